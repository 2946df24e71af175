"""Which human labels an estimate may rest on, by how their pairs were chosen (statistics 3.7, point 3).

Labels of pairs chosen at random stand for all pairs. So do those drawn at random within each verdict, for the verdicts
within which they were drawn; both together are a sample within verdicts. From labels from elsewhere only the judge's
errors can be estimated, unless every judged pair has one: then nothing was chosen. Labels of a targeted review stand
for no other pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from judgenet.core.labels import NOBODY, Chosen, People
from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural

LeftOut = Literal[
    "targeted",
    "within other verdicts",
    "within-verdict",
    "imported",
    "not asked for",
    "no verdict",
    "undecided",
    "no majority",
    "text changed",
    "no label in the file",
]
"""Why a pair that somebody labelled gives no label to an estimate.

``within other verdicts``: drawn within the verdicts of another run or aggregation. ``not asked for``: left out by the
user's choice of labels. The last four are those of :data:`judgenet.core.labels.Without`.
"""

WORDS: dict[LeftOut, str] = {
    "targeted": "chosen for a property of theirs (targeted)",
    "within other verdicts": "drawn within the verdicts of another run or aggregation",
    "within-verdict": "drawn within verdicts, where only labels chosen at random from all pairs hold",
    "imported": "not chosen at random from these pairs (imported)",
    "not asked for": "not asked for",
    "no verdict": "without a verdict of the network",
    "undecided": "skipped, or their annotators unsure",
    "no majority": "their annotators have no majority",
    "text changed": "labelled before their texts were changed",
    "no label in the file": "without a label in the data file, though annotators gave theirs",
}

_Kind = Literal["random", "within", "elsewhere", "imported"]
_KIND_LEFT: dict[_Kind, LeftOut] = {
    "within": "within-verdict",
    "elsewhere": "within other verdicts",
    "imported": "imported",
}


ALL_LABELLED: Final = "all judged pairs are labelled; no sampling was needed"


@dataclass(frozen=True, slots=True)
class Sample:
    """The labels that an estimate rests on.

    ``labelled`` counts pairs by verdict and label, ``others`` the other judged pairs by verdict. ``chosen`` is how the
    labels of ``labelled`` count, ``why`` says in words for what reason. ``used`` counts them by how each was chosen,
    ``left_out`` the labelled pairs that are not among them by reason. ``population`` is the smallest number of pairs
    from which a label was drawn, ``None`` where unknown; ``kinds`` are for :meth:`LabelTally.counts`.
    """

    labelled: Counter[tuple[Verdict, Verdict]]
    others: Counter[Verdict]
    chosen: Chosen
    why: str
    used: Mapping[Chosen, int]
    left_out: Mapping[LeftOut, int]
    population: int | None = None
    kinds: frozenset[_Kind] = frozenset()

    @property
    def complete(self) -> bool:
        """Whether every judged pair has a label, so that none was drawn."""
        return self.why == ALL_LABELLED


class LabelTally:
    """Counts pairs by verdict, label, and how the label was chosen. Its memory does not grow with the pairs.

    ``within`` names the verdicts that are counted, as ``run-1/c1``.
    """

    def __init__(self, within: str) -> None:
        self._within = within
        self._labelled: Counter[tuple[_Kind, Verdict, Verdict]] = Counter()
        self._asked: Counter[tuple[_Kind, Verdict, Verdict]] = Counter()
        self._chosen: Counter[tuple[_Kind, Chosen]] = Counter()
        self._verdicts: Counter[Verdict] = Counter()
        self._left: Counter[LeftOut] = Counter()
        self._population: int | None = None

    def add(
        self,
        verdict: Verdict | None,
        human: Verdict | None,
        people: People = NOBODY,
        *,
        asked: bool = True,
        count: int = 1,
    ) -> None:
        """Counts a pair, or ``count`` of the same kind. ``asked`` is false where the user leaves the label out."""
        if verdict is not None:
            self._verdicts[verdict] += count
        if human is None:
            if people.without:
                self._left[people.without] += count
            return
        if verdict is None:
            self._left["no verdict"] += count
            return
        kind = self._kind(people)
        self._labelled[kind, verdict, human] += count
        if not asked:
            self._left["not asked for"] += count
            return
        self._asked[kind, verdict, human] += count
        self._chosen[kind, people.chosen or "imported"] += count
        if people.population is not None:
            self._population = min(people.population, self._population or people.population)

    def _kind(self, people: People) -> _Kind:
        match people.chosen:
            case "random":
                return "random"
            case "within-verdict":
                # The user's word for a data file names no verdicts: it means these.
                return "within" if not people.within or self._within in people.within else "elsewhere"
            case _:
                return "imported"

    def sample(self, chosen: Chosen | None = None, *, only_random: bool = False) -> Sample:
        """The labels to use and how they count: as ``chosen`` says for all of them, else by what is kept of each.

        ``only_random`` leaves out labels drawn within verdicts, for figures that they do not allow.
        """
        kinds = Counter[_Kind]()
        for (kind, _, _), count in self._asked.items():
            kinds[kind] += count
        everything = frozenset(kinds)
        if chosen is not None:
            return self._sample(everything, chosen, "as stated")
        if self._verdicts.total() and self._labelled.total() == self._verdicts.total():
            return self._sample(everything, "random", ALL_LABELLED)
        if kinds["within"] and not only_random:
            return self._sample(frozenset({"random", "within"}), "within-verdict", "drawn at random within verdicts")
        if kinds["random"]:
            return self._sample(frozenset({"random"}), "random", "drawn at random from all pairs")
        if kinds["imported"]:
            why = "the labels came with the data, and nothing says how their pairs were chosen"
            return self._sample(frozenset({"imported"}), "imported", why)
        return self._sample(frozenset(), "random", "there are none")

    def _sample(self, kinds: frozenset[_Kind], chosen: Chosen, why: str) -> Sample:
        labelled: Counter[tuple[Verdict, Verdict]] = Counter()
        left = Counter(self._left)
        for (kind, verdict, human), count in self._asked.items():
            if kind in kinds:
                labelled[verdict, human] += count
            else:
                left[_KIND_LEFT.get(kind, "not asked for")] += count
        others = Counter(self._verdicts)
        for (verdict, _), count in labelled.items():
            others[verdict] -= count
        used: Counter[Chosen] = Counter()
        for (kind, how), count in self._chosen.items():
            if kind in kinds:
                used[how] += count
        return Sample(labelled, +others, chosen, why, used, left, self._population, kinds)

    def counts(self, people: People, sample: Sample) -> bool:
        """Whether the label of a pair is among those that the sample rests on."""
        return self._kind(people) in sample.kinds


@dataclass(slots=True)
class LabelSources:
    """Where the labels come from that agreement with people rests on: pairs by how they were chosen, those that
    somebody labelled without a label that counts, by reason, and disagreements, open and settled."""

    counted: Counter[Chosen] = field(default_factory=Counter)
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    disputed: int = 0
    settled: int = 0

    def add(self, human: Verdict | None, people: People, *, count: int = 1) -> None:
        """Counts a pair, or ``count`` of the same kind."""
        if human is not None:
            self.counted[people.chosen or "imported"] += count
        elif people.without:
            self.left_out[people.without] += count
        self.disputed += count * people.disputed
        self.settled += count * (people.settled_by is not None)

    @property
    def notes(self) -> list[str]:
        """What to know of agreement that rests on these labels."""
        notes = []
        if left := left_words(self.left_out):
            notes.append(f"labelled pairs that no figure counts: {left}")
        if drawn := self.counted["within-verdict"]:
            notes.append(
                f"{drawn:,} labels were drawn within verdicts: where these were drawn unevenly, agreement over all "
                "labelled pairs is not that over all pairs"
            )
        if self.counted["imported"] and self.counted["random"]:
            notes.append(
                f"{self.counted['random']:,} labels were drawn at random, {self.counted['imported']:,} came with the "
                "data: agreement is over both"
            )
        if self.disputed:
            notes.append(f"the annotators of {plural(self.disputed, 'pair')} disagree, and nobody settled it")
        return notes


def left_words(left_out: Mapping[LeftOut, int]) -> str:
    """What is left out, in words: ``3 targeted …; 2 …``. Empty where nothing is."""
    return "; ".join(f"{count:,} {WORDS[reason]}" for reason, count in left_out.items() if count)
