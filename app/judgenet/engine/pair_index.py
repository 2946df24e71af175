"""An index of a data set for display: keys by which many pairs are sorted, filtered and searched at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED, FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM, deciding
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.pictures import spoken_text
from judgenet.core.sorting import sorted_in_parts
from judgenet.stats.agreement import Agreement, agreement_of
from judgenet.stats.curves import CODES
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import lacks_quorum, without_quorum

SortKey = Literal["id", "task", "question", "length_a", "length_b", "human", "verdict", "agreement", "chosen"]

NoVerdict = Literal["", "unscored", "no quorum", "for people"]
"""Why there is no verdict on a pair that was judged, in words."""

_CHECKED_SINGLY: Final = 50
"""Up to this many pairs are checked one by one; for more, the table of all is used, which is rebuilt after new
calls."""

JudgedState = Literal["a", "tie", "b", "unscored", "no_quorum", "open", "people"]
"""The state of a pair in a run: its verdict, or ``unscored``: judged without a verdict; ``open``: not judged (yet);
``people``: its verdict is too uncertain to be accepted; ``no_quorum``: too few neurons have a valid answer."""
JUDGED: Final[tuple[JudgedState, ...]] = get_args(JudgedState)

Match = Literal["agree", "differ"]
"""Whether verdict and human label agree, where a pair has both."""

_PAIRS_PER_CHECK: Final = 500
_SORTED_CHARS: Final = 200
_CODE: Final[dict[Verdict | None, int]] = {verdict: code for code, verdict in enumerate(CODES)}

StopCheck = Callable[[], object]
"""Called from time to time; it may raise to end the work."""


def _no_check() -> None:
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class PairFilter:
    """Which pairs are wanted. ``None`` lets every pair pass; else a pair must have one of the values.

    ``text`` is searched for, see :meth:`PairIndex.search`. ``positions`` are the only ones that may pass.
    """

    tasks: frozenset[str | None] | None = None
    human: frozenset[Verdict | None] | None = None
    verdict: frozenset[JudgedState] | None = None
    match: frozenset[Match] | None = None
    findings: frozenset[str] | None = None
    chosen: bool | None = None
    text: str = ""
    positions: tuple[int, ...] | None = None

    @property
    def empty(self) -> bool:
        """Every pair passes."""
        return self == PairFilter()


class DatasetVerdicts:
    """The verdicts of a run on the pairs of a data set, by position.

    Attributes:
        verdict: codes (:data:`~judgenet.stats.curves.CODES`).
        judged: true where the run is done with the pair.
        people: true where the verdict is left to people.
        no_quorum: true where there is no verdict because too few neurons have a valid answer.
        rule: the aggregation that gives the verdicts; empty where there is no run.
    """

    def __init__(self, count: int) -> None:
        self.verdict: NDArray[np.uint8] = np.zeros(count, np.uint8)
        self.judged: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self.people: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self.no_quorum: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self._positions: NDArray[np.int32] = np.zeros(0, np.int32)
        self._table: RunFrame | None = None
        self.rule = ""

    @classmethod
    def of(cls, table: RunFrame | None, ids: Sequence[str], rule: str = "") -> DatasetVerdicts:
        """The verdicts of a run on the pairs with these ids; ``None``: there is no run.

        ``rule`` names their aggregation; where the run has none of that name, its deciding one is used.
        """
        verdicts = cls(len(ids))
        if table is not None:
            verdicts.rule = rule if rule in table.aggregations else deciding(table.spec)
            places = {pair_id: place for place, pair_id in enumerate(ids)}
            verdicts._positions = np.fromiter(
                (places.get(pair_id, -1) for pair_id in table.pairs.ids), np.int32, len(table.pairs.ids)
            )
            verdicts._table = table
            verdicts.take(range(len(table.pairs.ids)))
        return verdicts

    def take(self, pairs: Iterable[int]) -> list[int]:
        """Updates the verdicts of some of the run's pairs; returns their positions in the data set."""
        table = self._table
        if table is None:
            return []
        index = np.fromiter(pairs, np.int64)
        index = index[index < len(self._positions)]
        positions = self._positions[index]
        index, positions = index[positions >= 0], positions[positions >= 0]
        self.verdict[positions] = table.verdict_codes(self.rule)[index]
        self.judged[positions] = table.states[index] >= 2
        if self.rule == ACCEPTED:
            self.people[positions] = table.for_people[index]
        if table.spec.aggregation.quorum is not None:
            few = len(index) <= _CHECKED_SINGLY
            lacking = [lacks_quorum(table, self.rule, pair) for pair in index.tolist()] if few else None
            self.no_quorum[positions] = without_quorum(table, self.rule)[index] if lacking is None else lacking
        places: list[int] = positions.tolist()
        return places

    def missing(self, position: int) -> NoVerdict:
        """Why a judged pair has no verdict; empty where it has one, or was not judged."""
        if self.verdict[position] or not self.judged[position]:
            return ""
        return FOR_PEOPLE if self.people[position] else NO_QUORUM if self.no_quorum[position] else "unscored"

    def at(self, position: int) -> Verdict | None:
        """The verdict on the pair at a position."""
        verdict: Verdict | None = CODES[self.verdict[position]]
        return verdict

    def run_index(self, position: int) -> int | None:
        """The index within the run of the pair at a position, ``None`` where it is not in the run."""
        places = np.flatnonzero(self._positions == position)
        return int(places[0]) if places.size else None


class PairIndex:
    """Keys of many pairs, by position in the data set. Built in a thread; sorting keys are computed when first needed.

    Attributes:
        pairs: the pairs.
        tasks: the tasks that occur, the most frequent first; ``None`` stands for "no task".
        human: codes of the labels.
        length_a, length_b: characters of the responses.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        count = len(pairs)
        self.pairs = pairs
        names = Counter(pair.task for pair in pairs)
        self.tasks: tuple[str | None, ...] = tuple(
            task for task, _ in sorted(names.items(), key=lambda item: (-item[1], item[0] or ""))
        )
        codes = {task: code for code, task in enumerate(self.tasks)}
        self.task: NDArray[np.int32] = np.fromiter((codes[pair.task] for pair in pairs), np.int32, count)
        self.human: NDArray[np.uint8] = np.fromiter((_CODE[pair.human] for pair in pairs), np.uint8, count)
        self.length_a: NDArray[np.int32] = _lengths(pairs, "a")
        self.length_b: NDArray[np.int32] = _lengths(pairs, "b")
        self._ranks: dict[str, NDArray[np.int32]] = {}
        self._found: tuple[str, NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    # Sorting

    def order(
        self,
        key: SortKey | None,
        *,
        descending: bool = False,
        verdicts: DatasetVerdicts | None = None,
        chosen: NDArray[np.bool_] | None = None,
        check: StopCheck = _no_check,
    ) -> NDArray[np.int32]:
        """All positions in the order of a key; ``None``: the order of the source. Pairs without a value come last."""
        count = len(self.pairs)
        if key is None:
            return np.arange(count, dtype=np.int32)
        values = self._values(key, verdicts or DatasetVerdicts(count), chosen, check).astype(np.int64)
        missing = values < 0
        values = -values if descending else values
        values[missing] = np.iinfo(np.int64).max
        return np.argsort(values, kind="stable").astype(np.int32)

    def _values(
        self, key: SortKey, verdicts: DatasetVerdicts, chosen: NDArray[np.bool_] | None, check: StopCheck
    ) -> NDArray[np.int32]:
        """Numbers that sort as the key does; -1 where there is no value."""
        if key in ("id", "question", "task"):
            return self._rank(key, check)
        if key == "length_a":
            return self.length_a
        if key == "length_b":
            return self.length_b
        if key == "human":
            return self.human.astype(np.int32) - 1
        if key == "verdict":
            return verdicts.verdict.astype(np.int32) - 1
        if key == "chosen":
            return np.ones(len(self.pairs), np.int32) if chosen is None else np.where(chosen, 0, 1).astype(np.int32)
        both = (self.human > 0) & (verdicts.verdict > 0)
        return np.where(both, (self.human != verdicts.verdict).astype(np.int32), -1).astype(np.int32)

    def _rank(self, key: str, check: StopCheck) -> NDArray[np.int32]:
        ranked_places = self._ranks.get(key)
        if ranked_places is not None:
            return ranked_places
        if key == "task":
            names = [(task is None, (task or "").casefold(), code) for code, task in enumerate(self.tasks)]
            place = np.empty(len(self.tasks), np.int32)
            for rank, (none, _, code) in enumerate(sorted(names)):
                place[code] = -1 if none else rank
            self._ranks[key] = place[self.task]
            return self._ranks[key]
        texts: list[str] = []
        for number, pair in enumerate(self.pairs):
            if number % _PAIRS_PER_CHECK == 0:
                check()
            texts.append(_natural(pair.id) if key == "id" else _start(pair.question).casefold())
        order = np.fromiter(sorted_in_parts(range(len(texts)), texts.__getitem__, check), np.int32, len(texts))
        ranks = np.empty(len(texts), np.int32)
        ranks[order] = np.arange(len(texts), dtype=np.int32)
        self._ranks[key] = ranks
        return ranks

    # Filtering

    def mask(
        self,
        wanted: PairFilter,
        *,
        verdicts: DatasetVerdicts | None = None,
        chosen: NDArray[np.bool_] | None = None,
        findings: Mapping[str, Collection[str]] | None = None,
        check: StopCheck = _no_check,
    ) -> NDArray[np.bool_]:
        """True where a pair passes. ``findings`` are the ids by kind; where ``chosen`` is ``None``, all pairs are."""
        count = len(self.pairs)
        verdicts = verdicts or DatasetVerdicts(count)
        passed = np.ones(count, np.bool_)
        if wanted.positions is not None:
            passed[:] = False
            passed[[place for place in wanted.positions if place < count]] = True
        if wanted.tasks is not None:
            codes = [code for code, task in enumerate(self.tasks) if task in wanted.tasks]
            passed &= np.isin(self.task, codes)
        if wanted.human is not None:
            passed &= np.isin(self.human, [_CODE[label] for label in wanted.human])
        if wanted.verdict is not None:
            passed &= np.isin(self._judged(verdicts), [JUDGED.index(state) for state in wanted.verdict])
        if wanted.match is not None:
            both = (self.human > 0) & (verdicts.verdict > 0)
            same = self.human == verdicts.verdict
            agree = same if "agree" in wanted.match else np.zeros(count, np.bool_)
            differ = ~same if "differ" in wanted.match else np.zeros(count, np.bool_)
            passed &= both & (agree | differ)
        if wanted.findings is not None:
            ids = {pair_id for kind in wanted.findings for pair_id in (findings or {}).get(kind, ())}
            for place in np.flatnonzero(passed).tolist():
                if self.pairs[place].id not in ids:
                    passed[place] = False
        if wanted.chosen is not None:
            passed &= (np.ones(count, np.bool_) if chosen is None else chosen) == wanted.chosen
        if wanted.text.strip():
            mask = np.zeros(count, np.bool_)
            mask[self.search(wanted.text, check)] = True
            passed &= mask
        return passed

    def _judged(self, verdicts: DatasetVerdicts) -> NDArray[np.uint8]:
        """The state of each pair, as its place in :data:`JUDGED`."""
        decided = np.array([JUDGED.index("open"), 0, 1, 2], np.uint8)[verdicts.verdict]
        unscored = verdicts.judged & (verdicts.verdict == 0)
        judged = np.where(unscored, np.uint8(JUDGED.index("unscored")), decided)
        judged = np.where(verdicts.no_quorum, np.uint8(JUDGED.index("no_quorum")), judged)
        return np.where(verdicts.people, np.uint8(JUDGED.index("people")), judged).astype(np.uint8)

    def search(self, text: str, check: StopCheck = _no_check) -> NDArray[np.int32]:
        """The positions of pairs that hold all words of ``text`` somewhere: in id, task, models, tags, question,
        reference, criteria or responses. Words in double quotes belong together. Case is ignored.
        """
        terms = _terms(text)
        within: Sequence[int] = range(len(self.pairs))
        last = self._found
        if last is not None and _narrows(terms, _terms(last[0])):
            within = last[1].tolist()
        hits: list[int] = []
        for number, place in enumerate(within):
            if number % _PAIRS_PER_CHECK == 0:
                check()
            if _holds(self.pairs[place], terms):
                hits.append(place)
        positions = np.array(hits, np.int32)
        self._found = (text, positions)
        return positions

    # Counting

    def task_counts(self) -> dict[str | None, int]:
        """Pairs by task."""
        counts = np.bincount(self.task, minlength=len(self.tasks))
        return {task: int(counts[code]) for code, task in enumerate(self.tasks)}

    def human_counts(self) -> dict[Verdict | None, int]:
        """Pairs by human label."""
        counts = np.bincount(self.human, minlength=len(CODES))
        return {verdict: int(counts[code]) for code, verdict in enumerate(CODES)}

    def judged_counts(self, verdicts: DatasetVerdicts) -> dict[JudgedState, int]:
        """Pairs by their state in the run."""
        counts = np.bincount(self._judged(verdicts), minlength=len(JUDGED))
        return {state: int(counts[code]) for code, state in enumerate(JUDGED)}

    def agreement(self, verdicts: DatasetVerdicts) -> Agreement:
        """Verdicts against human labels over the pairs that the run is done with."""
        codes = self.human[verdicts.judged].astype(np.int64) * len(CODES) + verdicts.verdict[verdicts.judged]
        counts = np.bincount(codes, minlength=len(CODES) ** 2).tolist()
        return agreement_of(
            {
                (human, verdict): counts[row * len(CODES) + column]
                for row, human in enumerate(CODES)
                for column, verdict in enumerate(CODES)
                if counts[row * len(CODES) + column]
            }
        )


def chosen_mask(pairs: Sequence[Pair], chosen: Sequence[Pair]) -> NDArray[np.bool_]:
    """True for the pairs that are among the chosen ones, which have the same order."""
    mask = np.zeros(len(pairs), np.bool_)
    if len(chosen) == len(pairs):
        mask[:] = True
        return mask
    ids = {pair.id for pair in chosen}
    mask[[place for place, pair in enumerate(pairs) if pair.id in ids]] = True
    return mask


_DIGITS: Final = re.compile(r"\d+")
_TERM: Final = re.compile(r'"([^"]*)"|(\S+)')


def _natural(text: str) -> str:
    """A text that sorts with its numbers as numbers: ``row-2`` before ``row-10``."""
    return _DIGITS.sub(lambda match: match[0].zfill(12), text.casefold())


def _start(text: str) -> str:
    return " ".join(text[: 2 * _SORTED_CHARS].split())[:_SORTED_CHARS]


def _terms(text: str) -> tuple[str, ...]:
    terms = (quoted or word for quoted, word in _TERM.findall(text.casefold()))
    return tuple(dict.fromkeys(term.strip('"') for term in terms if term.strip('"')))


def _lengths(pairs: Sequence[Pair], side: Literal["a", "b"]) -> NDArray[np.int32]:
    """The characters of a response of each pair; its pictures do not count."""
    texts = ((pair, pair.response(side)) for pair in pairs)
    lengths = (len(spoken_text(text, pair.pictures) if pair.pictures else text) for pair, text in texts)
    return np.fromiter(lengths, np.int32, len(pairs))


def _narrows(terms: Sequence[str], before: Sequence[str]) -> bool:
    """Whether every pair that contains ``terms`` contains ``before`` too."""
    return bool(before) and all(any(old in new for new in terms) for old in before)


def _holds(pair: Pair, terms: Sequence[str]) -> bool:
    texts = (
        pair.question,
        pair.response_a,
        pair.response_b,
        pair.reference or "",
        "\n".join((pair.id, pair.task or "", pair.model_a or "", pair.model_b or "", *pair.tags)),
        "\n".join(criterion.text for criterion in pair.criteria),
    )
    if len(terms) == 1:
        (term,) = terms
        return any(term in text.casefold() for text in texts)
    folded = [text.casefold() for text in texts]
    return all(any(term in text for text in folded) for term in terms)
