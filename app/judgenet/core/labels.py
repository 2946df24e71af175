"""Human labels: who gave each of them and how its pair was chosen, and the one label of a pair that follows from them.

How the pairs were chosen decides what can be estimated from their labels (statistics 3.7): labels of pairs that were
picked for a property of theirs, such as being uncertain, stand for no other pair and enter no figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from judgenet.core.pairs import VERDICTS, Pair, Verdict, majority

Chosen = Literal["random", "within-verdict", "targeted", "imported"]
"""How the labelled pairs were chosen: at random from all, at random within each verdict, for a property of theirs
(uncertain, disputed), or they came with labels from elsewhere (another population, a class-balanced set)."""
CHOSEN: tuple[Chosen, ...] = get_args(Chosen)

Said = Literal["a", "b", "tie", "skip", "unsure"]
"""A label, or that somebody looked and gave none. ``skip`` and ``unsure`` are never a tie."""

NoMajority = Literal["tie", "drop"]
"""What a pair counts as whose annotators have no majority: a tie, or no label."""

FILE_ANNOTATOR = "data file"
"""The name of who gave the label of a data file that names no annotators."""

_RANK: dict[Chosen, int] = {"random": 0, "within-verdict": 1, "imported": 2, "targeted": 3}


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """The label that one annotator gave one pair.

    ``content`` is the pair's :attr:`~judgenet.core.pairs.Pair.content_hash` when it was labelled: a pair whose texts
    change loses its labels. ``settles`` is true for the decision of a disagreement. ``swapped`` says that response B
    stood on the left, ``None`` where that is unknown; ``seconds`` is the time taken, ``at`` seconds since the epoch.
    ``within`` names the verdicts (``run-1/c1``) within which the pair was drawn, ``population`` from how many pairs.
    ``number`` is the place in the store's history, 0 before it is kept.
    """

    pair_id: str
    content: str
    annotator: str
    said: Said
    chosen: Chosen
    swapped: bool | None = None
    seconds: float | None = None
    at: float = 0.0
    within: str | None = None
    population: int | None = None
    settles: bool = False
    number: int = 0

    @property
    def verdict(self) -> Verdict | None:
        """The label; ``None`` where none was given."""
        return None if self.said == "skip" or self.said == "unsure" else self.said


@dataclass(frozen=True, slots=True)
class LabelRules:
    """How labels become one a pair: what no majority counts as, and how the labelled pairs of the data file were
    chosen, as far as the user says."""

    no_majority: NoMajority = "tie"
    file_chosen: Chosen = "imported"


Without = Literal["", "targeted", "undecided", "no majority", "text changed", "no label in the file"]
"""Why a pair that somebody labelled has no label that counts: only a targeted review looked at it; all skipped it or
were unsure; the annotators have no majority; its texts are others now; its data file says that it has none."""


@dataclass(frozen=True, slots=True)
class People:
    """Where the label of a pair comes from.

    ``chosen`` is ``None`` where no label counts, and ``without`` may say why. ``within`` and ``population`` as in
    :class:`HumanLabel`. ``targeted`` is what a targeted review said, which counts for no figure. ``disputed`` pairs
    have annotators who differ and nobody who settled it; ``settled_by`` names who did.
    """

    chosen: Chosen | None = None
    within: frozenset[str] = frozenset()
    population: int | None = None
    targeted: Verdict | None = None
    disputed: bool = False
    settled_by: str | None = None
    without: Without = ""


NOBODY = People()


def of_file(pair: Pair, chosen: Chosen) -> People:
    """Where the label of a pair comes from that only its data file labels, or why it has none although annotators of
    the file gave theirs."""
    if pair.human is not None:
        return People(chosen)
    if not pair.annotators:
        return NOBODY
    decided = majority((verdict for _, verdict in pair.annotators), None)
    return People(without="no label in the file" if decided else "no majority")


def merged(pair: Pair, labels: Sequence[HumanLabel], rules: LabelRules) -> tuple[Pair, People]:
    """The pair with one label of all annotators, and where it comes from.

    ``pair`` has the labels of its data file, ``labels`` are those in force of its id, oldest first. The label is that
    of the majority, unless a disagreement is settled. Labels of a targeted review are set aside. Where an annotator is
    in the file too, the later label counts.
    """
    set_aside = None
    from_file = pair.human is not None or bool(pair.annotators)
    if from_file and rules.file_chosen == "targeted":
        set_aside = pair.human
        pair, from_file = replace(pair, human=None, annotators=()), False
    content = pair.content_hash if labels else ""
    mine = [label for label in labels if label.content == content]
    targeted_said = {label.annotator: label.said for label in mine if label.chosen == "targeted" and not label.settles}
    targeted = majority(said for said in targeted_said.values() if said in VERDICTS) or set_aside
    counting = [label for label in mine if label.chosen != "targeted" and not label.settles]
    settled = next((label for label in reversed(mine) if label.settles), None)
    if not counting and not (settled and from_file):
        if pair.human is not None:
            return pair, People(rules.file_chosen, targeted=targeted)
        why: Without = "targeted" if targeted_said or set_aside else "text changed" if labels and not mine else ""
        if not why:
            return pair, of_file(pair, rules.file_chosen)
        return pair, People(targeted=settled.verdict if settled else targeted, without=why)
    votes = _votes(pair, counting)
    said = settled.verdict if settled else majority(votes.values(), "tie" if rules.no_majority == "tie" else None)
    disputed = settled is None and len(set(votes.values())) > 1
    pair = replace(pair, human=said, annotators=tuple(votes.items()))
    by = None if settled is None else settled.annotator
    if said is None:
        without: Without = "no majority" if disputed else "undecided"
        return pair, People(targeted=targeted, disputed=disputed, settled_by=by, without=without)
    voted = [label for label in counting if label.verdict is not None]
    origins = [label.chosen for label in voted] + ([rules.file_chosen] if from_file else [])
    chosen = min(origins, key=_RANK.__getitem__, default=rules.file_chosen)
    of_draw = [label for label in voted if label.chosen == chosen]
    return pair, People(
        chosen,
        frozenset(label.within for label in of_draw if label.within is not None),
        max((label.population for label in of_draw if label.population is not None), default=None),
        targeted,
        disputed,
        by,
    )


def _votes(pair: Pair, labels: Iterable[HumanLabel]) -> dict[str, Verdict]:
    """What each annotator says of a pair: in its data file, or in a later label, which may take that back."""
    votes = dict(pair.annotators)
    if not votes and pair.human is not None:
        votes[FILE_ANNOTATOR] = pair.human
    for label in labels:
        votes.pop(label.annotator, None)
        if label.verdict is not None:
            votes[label.annotator] = label.verdict
    return votes


def in_force(history: Iterable[HumanLabel], undone: frozenset[int] = frozenset()) -> list[HumanLabel]:
    """The labels that count of a history, oldest first: of each annotator and pair the last one that was not taken
    back. A targeted review stands beside an annotator's other label and does not replace it."""
    last: dict[tuple[str, str, str, bool, bool], HumanLabel] = {}
    for label in history:
        if label.number in undone:
            continue
        # Who settles a pair settles it for all, whoever did before.
        who = "" if label.settles else label.annotator
        key = (label.pair_id, label.content, who, label.settles, not label.settles and label.chosen == "targeted")
        last.pop(key, None)
        last[key] = label
    return list(last.values())
