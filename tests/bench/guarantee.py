"""Whether the promise of ``judgenet guarantee`` holds: over random splits of LLMBar, PandaLM and Auto-J (recorded
judgments, the reference data beside the project).

``python -m tests.bench.guarantee`` draws labels at random from each set, 1,000 times, chooses a threshold from them,
and looks at the error among the accepted verdicts of the other pairs. It prints a table as Markdown and ends with 1
where a promise was broken in more than a share delta of the splits. ``--splits 100`` is quicker; ``--page FILE`` writes
``resources/docs/guarantee.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgenet.core.network import Confidence
from judgenet.figures.guarantee import confident_verdicts
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.formats.pairs import read_pairs
from judgenet.stats.confidence import confidences
from judgenet.stats.curves import CODES, Codes, Floats
from judgenet.stats.guarantee import LevelCounts, count_levels, promise
from judgenet.stats.learning import cross_fitted_scores
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.recorded import import_run, select

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DELTA = 0.05
PENALTY = 0.3
"""The learned probability is fitted with one penalty here, so that 1,000 splits take minutes."""


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """A set with its recorded judgments: the files, and which of them are neurons."""

    name: str
    folder: str
    files: tuple[str, ...]
    where: str = ""

    def frame(self, data: Path = DATA) -> RunFrame:
        """The run of its judgments, with all labels."""
        folder = data / self.folder
        files = read_judgments([folder / file for file in self.files])
        where = parse_conditions(self.where) if self.where else None
        selected = select(files, read_pairs(folder / "pairs.jsonl").pairs, where)
        with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "run.judgenet.db") as store:
            return RunFrame.read(store, import_run(store, selected))


_LLMBAR = ("judgments_cot.jsonl", "judgments_short.jsonl")
_PROMPTS = "task=LLMBar/*,prompt=CoT,prompt=Vanilla,prompt=Vanilla_NoRules"
LLMBAR = RecordedSet("LLMBar, GPT-4 × 3 prompts", "llmbar", _LLMBAR, f"{_PROMPTS},judge=GPT-4")
LLMBAR_ALL = RecordedSet("LLMBar, 6 judges × 3 prompts", "llmbar", _LLMBAR, _PROMPTS)
PANDALM = RecordedSet("PandaLM, 2 judges", "pandalm", ("judgments.jsonl",))
AUTOJ = RecordedSet("Auto-J, 1 judge", "autoj", ("judgments.jsonl",))


@dataclass(frozen=True, slots=True)
class Setting:
    """What a row of the table is about."""

    data: RecordedSet
    confidence: Confidence
    labels: int
    alphas: tuple[float, ...]


SETTINGS = (
    Setting(LLMBAR, "calls", 100, (0.15, 0.2, 0.25)),
    Setting(LLMBAR, "calls", 200, (0.1, 0.15, 0.2)),
    Setting(LLMBAR, "orders", 100, (0.2, 0.25)),
    Setting(LLMBAR, "neurons", 100, (0.2, 0.25)),
    Setting(LLMBAR, "margin", 100, (0.2, 0.25)),
    Setting(LLMBAR, "learned", 200, (0.2, 0.25)),
    Setting(LLMBAR_ALL, "learned", 200, (0.2, 0.25)),
    Setting(PANDALM, "calls", 200, (0.25, 0.3, 0.35)),
    Setting(PANDALM, "calls", 400, (0.25, 0.3)),
    Setting(PANDALM, "learned", 400, (0.3, 0.35)),
    Setting(AUTOJ, "calls", 200, (0.35, 0.4, 0.45)),
    Setting(AUTOJ, "calls", 400, (0.35, 0.4)),
)


@dataclass(slots=True)
class Split:
    """The labels of a draw: the levels, and the confidence of each pair."""

    counts: LevelCounts
    confidence: Floats
    wrong: np.ndarray
    held_out: np.ndarray
    judged: np.ndarray

    def error(self, threshold: float | None, among: np.ndarray) -> float | None:
        """The error of the accepted verdicts among some pairs; ``None`` where none is accepted."""
        if threshold is None:
            return None
        accepted = among & (self.confidence >= threshold)
        return float(self.wrong[accepted].mean()) if accepted.any() else None


def splits(frame: RunFrame, setting: Setting, count: int, seed: int = 1) -> Iterator[Split]:
    """Draws of labels: so many pairs at random, the others held out."""
    name = "c2_all"
    # A learned confidence rests on the labels of a draw; the others are the same for all draws.
    plain: Confidence = "calls" if setting.confidence == "learned" else setting.confidence
    fixed = confident_verdicts(frame, name, plain, "random")
    judged = np.flatnonzero((fixed.verdicts > 0) & (frame.human > 0))
    wrong = fixed.verdicts != frame.human
    rng = np.random.default_rng(seed)
    for number in range(count):
        human = np.zeros(len(frame), np.uint8)
        drawn = rng.choice(judged, setting.labels, replace=False)
        human[drawn] = frame.human[drawn]
        sure = learned_confidence(frame, fixed.verdicts, human) if setting.confidence == "learned" else fixed.confidence
        all_judged = (frame.human > 0) & (fixed.verdicts > 0)
        counts = count_levels(sure, fixed.verdicts, human, frame.questions, number)
        yield Split(counts, sure, wrong, all_judged & (human == 0), all_judged)


def learned_confidence(frame: RunFrame, verdicts: Codes, human: Codes) -> Floats:
    """The learned probability of each verdict, cross-fitted on these labels with one penalty."""
    labels = [CODES[code] for code in human]
    scores, _, _ = cross_fitted_scores(frame.votes, labels, frame.questions.tolist(), penalties=(PENALTY,))
    probability = 1 / (1 + np.exp(-scores))
    neurons = frame.table.neurons[:, : len(frame.places)]
    return np.round(confidences("learned", verdicts, frame.calls, neurons, frame.table.margin, probability), 9)


@dataclass(slots=True)
class Tally:
    """What came of the splits of a setting at one alpha."""

    alpha: float
    splits: int = 0
    promised: int = 0
    share: float = 0.0
    error: float = 0.0
    exceeded: int = 0
    broken: int = 0
    plug_in_share: float = 0.0
    plug_in_exceeded: int = 0

    def take(self, split: Split) -> None:
        """Counts a split."""
        self.splits += 1
        found = promise(split.counts, self.alpha, DELTA)
        error = split.error(found.threshold, split.held_out)
        if error is not None:
            self.promised += 1
            self.share += found.share
            self.error += error
            self.exceeded += error > self.alpha
            # The set is what the labels are a sample of: the promise is about its error.
            self.broken += (split.error(found.threshold, split.judged) or 0) > self.alpha
        threshold = plug_in(split.counts, self.alpha)
        error = split.error(threshold, split.held_out)
        if error is not None:
            self.plug_in_share += float((split.confidence >= (threshold or 0)).mean())
            self.plug_in_exceeded += error > self.alpha


def plug_in(counts: LevelCounts, alpha: float) -> float | None:
    """The loosest threshold whose error on the labels is at most alpha, promising nothing."""
    good = np.flatnonzero((counts.errors <= alpha * counts.labels) & (counts.labels > 0))
    return float(counts.confidence[good[-1]]) if len(good) else None


def measure(frame: RunFrame, setting: Setting, count: int) -> list[Tally]:
    """What comes of so many splits, for each alpha of a setting."""
    tallies = [Tally(alpha) for alpha in setting.alphas]
    for split in splits(frame, setting, count):
        for tally in tallies:
            tally.take(split)
    return tallies


HEADINGS = (
    "set | confidence | labels | α | δ | promised in | decided | error, held out | above α, held out | "
    "above α, whole set | plug-in decided | plug-in above α, held out"
)


def table(settings: Sequence[Setting], count: int, data: Path, tell: Callable[[str], object]) -> bool:
    """Tells the lines of the table; false where a promise was broken too often."""
    tell(f"| {HEADINGS} |")
    tell(f"| --- | --- |{' ---: |' * (HEADINGS.count('|') - 1)}")
    frames: dict[str, RunFrame] = {}
    good = True
    for setting in settings:
        name = setting.data.name
        if name not in frames:
            frames[name] = setting.data.frame(data)
        for tally in measure(frames[name], setting, count):
            cells = [
                f"{name} ({len(frames[name]):,} pairs)",
                setting.confidence,
                f"{setting.labels:,}",
                f"{tally.alpha:.2f}",
                f"{DELTA:.2f}",
                f"{tally.promised / count:.1%}",
                f"{tally.share / tally.promised:.1%}" if tally.promised else "n/a",
                f"{tally.error / tally.promised:.3f}" if tally.promised else "n/a",
                f"{tally.exceeded / count:.1%}",
                f"{tally.broken / count:.1%}",
                f"{tally.plug_in_share / count:.1%}",
                f"{tally.plug_in_exceeded / count:.1%}",
            ]
            tell(f"| {' | '.join(cells)} |")
            good &= tally.broken <= DELTA * count
    return good


PAGE = """# Does the promise of a guarantee hold?

`python -m tests.bench.guarantee` (in the source): labels are drawn at random from a set of recorded judgments,
{splits:,} times; each time a threshold is chosen from these labels, as `judgenet guarantee` does, and the error among
the accepted verdicts is looked at. The verdict is the vote of all neurons.

- **promised in**: the share of the draws in which something can be promised. **decided**: the share of verdicts that
  are then accepted, and **error, held out** the error among those of pairs without a label, means over these draws.
- **above α, whole set**: the share of the draws in which the error among all accepted verdicts of the set is above α.
  This is what the promise is about; it has to be at most δ.
- **above α, held out**: the same among the accepted pairs without a label. These are a sample themselves, whose error
  varies about that of the set: it may be a little above δ where the true error is close to α and labels are many.
- **plug-in**: the loosest threshold whose error on the labels is at most α, as one would choose it without a test.

{table}

{verdict}

The learned probability is cross-fitted: the fits share labels, so that its promise is not exact in theory. PandaLM asks
170 questions with its 999 pairs: one label per question is used.
"""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--splits", type=int, default=1000)
    options.add_argument("--data", type=Path, default=DATA, help="the folder of the reference data")
    options.add_argument("--page", type=Path, help="write the page of the documentation")
    given = options.parse_args()
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    good = table(SETTINGS, given.splits, given.data, tell)
    verdict = "Every promise held." if good else "A promise was broken in more than a share δ of the draws."
    print(verdict)
    if given.page is not None:
        page = PAGE.format(splits=given.splits, table="\n".join(lines), verdict=verdict)
        given.page.write_text(page, encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
