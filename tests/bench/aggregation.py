"""How votes are best joined, on recorded judges: the majority, the best neuron, and what is learned from labels or
without any.

``python -m tests.bench.aggregation`` prints a table by set, cross-fitted over questions, with 95 % intervals over
questions; ``--labels 40,80,160`` what the ways that learn from labels are worth with so few, the mean over draws of
labelled pairs, on all others. It needs the reference data beside the project.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.figures.learned import WAY_TITLES, Way, learn_from
from judgenet.figures.parts import agreement_figures
from judgenet.figures.trust import agreements
from judgenet.formats import read_pairs
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.stats.curves import CODES, verdict_codes
from judgenet.stats.ising import fit_ising
from judgenet.stats.learning import Labels, VoteMatrix, logistic_weights, splits
from judgenet.stats.verdicts import sign_codes
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.recorded import import_run, select
from tests.conftest import SHARED_DATA

PROMPTS: Final = "prompt=CoT,prompt=Vanilla,prompt=Vanilla_NoRules"
SETS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "llmbar": (("judgments_cot.jsonl", "judgments_short.jsonl"), f"task=LLMBar/*,{PROMPTS}"),
    "llmbar processed": (("judgments_cot.jsonl", "judgments_short.jsonl"), f"task=Processed/*,{PROMPTS}"),
    "pandalm": (("judgments.jsonl",), ""),
    "judgebench": (("judgments.jsonl",), ""),
}
"""The files and the conditions of each set."""
WAYS: Final[tuple[Way, ...]] = ("best_single", "nonnegative", "any_sign", "dawid_skene", "ising")
DRAWS: Final = 20
_FEW_PENALTIES: Final = (0.03, 0.1, 0.3, 1.0)


class RecordedVotes(NamedTuple):
    """The votes of neurons on pairs of which two or more voted, labels and questions, and the majority's verdicts."""

    votes: VoteMatrix
    labels: Labels
    human: NDArray[np.uint8]
    questions: NDArray[np.int64]
    majority: NDArray[np.uint8]


def recorded(name: str, folder: Path) -> RecordedVotes:
    """The recorded judges of a set."""
    files, where = SETS[name]
    source = SHARED_DATA / name.partition(" ")[0]
    read = read_judgments([source / file for file in files])
    chosen = select(read, read_pairs(source / "pairs.jsonl").pairs, parse_conditions(where) if where else {})
    with Store.open(folder / f"{name.replace(' ', '-')}.judgenet.db") as store:
        frame = RunFrame.read(store, import_run(store, chosen))
    used = (frame.human > 0) & ((~np.isnan(frame.votes)).sum(axis=1) > 1)
    labels = [CODES[code] for code in frame.human[used]]
    majority = frame.aggregations["c2_all"][used]
    return RecordedVotes(frame.votes[used], labels, frame.human[used], frame.questions[used], majority)


def table(name: str, data: RecordedVotes) -> list[str]:
    """A row a way."""
    said = {"Majority vote": data.majority}
    for way in WAYS:
        learned = learn_from(data.votes, data.labels, data.questions.tolist(), way)
        if isinstance(learned, str):
            continue
        said[WAY_TITLES[way]] = verdict_codes(learned.verdicts)
    ties = int((data.human == 2).sum())
    rows = [f"{name}: {len(data.human):,} pairs ({ties:,} labelled a tie), {data.votes.shape[1]} neurons"]
    for title, of in agreements(data.questions, data.human, said).items():
        found = agreement_figures(*of)
        low, high = found.accuracy_ci or (float("nan"), float("nan"))
        kappa = f"{found.kappa:.3f}" if found.kappa is not None else "n/a"
        rows.append(
            f"  {title:<40} {found.accuracy:.4f}  [{low:.3f}, {high:.3f}]  kappa {kappa:>6}  "
            f"{found.n_used:,} of {found.n_total:,}"
        )
    return rows


def few_labels(data: RecordedVotes, counts: Sequence[int]) -> list[str]:
    """What weights are worth that were fitted to so few labelled pairs, on the others; pairs labelled a tie are left
    out. Each way has the penalty that is best inside its labelled pairs."""
    decided = data.human != 2
    signs = np.where(data.human[decided] == 1, 1.0, -1.0)
    merged = sign_codes(np.nan_to_num(data.votes[decided]), ~np.isnan(data.votes[decided]))
    said = np.array([np.nan, 1.0, 0.0, -1.0])[merged]
    rng = np.random.default_rng(0)
    rows = []
    for count in counts:
        if 2 * count > len(signs):
            continue
        right: dict[str, list[float]] = {"weights of 0 or more": [], "weights of any sign": [], "Ising": []}
        for _ in range(DRAWS):
            order = rng.permutation(len(signs))
            mine, others = order[:count], order[count:]
            for title, found in right.items():
                weights = _fitted(said[mine], signs[mine], title)
                vote = np.sign(np.nan_to_num(said[others]) @ weights)
                found.append(float((vote == signs[others]).mean()))
        means = ", ".join(f"{title} {np.mean(found):.3f}" for title, found in right.items())
        rows.append(f"  {count:,} labels: {means}")
    return rows


def _fitted(said: VoteMatrix, labels: VoteMatrix, title: str) -> VoteMatrix:
    losses = np.zeros(len(_FEW_PENALTIES))
    for fit_on, test_on in splits(range(len(labels)), 4, 0):
        for place, c in enumerate(_FEW_PENALTIES):
            weights = _weights(said[fit_on], labels[fit_on], title, c)
            losses[place] += np.logaddexp(0, -labels[test_on] * (np.nan_to_num(said[test_on]) @ weights)).sum()
    return _weights(said, labels, title, _FEW_PENALTIES[int(losses.argmin())])


def _weights(said: VoteMatrix, labels: VoteMatrix, title: str, c: float) -> VoteMatrix:
    if title == "Ising":
        return 2 * fit_ising(said, labels, c).h
    return logistic_weights(np.nan_to_num(said) * labels[:, None], c, title == "weights of 0 or more")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by name")
    parser.add_argument("--labels", default="", help="numbers of labels")
    chosen = parser.parse_args()
    counts = [int(count) for count in chosen.labels.split(",") if count]
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.sets.split(","):
            data = recorded(name, Path(folder))
            print("\n".join(few_labels(data, counts) if counts else table(name, data)))


if __name__ == "__main__":
    main()
