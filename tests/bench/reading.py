"""How well replies are read: the reader against recorded texts of real judges, beside the WideDeep script.

    python -m tests.bench.reading

Needs the reference data beside the project. Exits with 1 where a verdict is read wrong or a difference is
not explained.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judgenet.core.evaluation import Choice, Reading, Unscored, choice_of
from judgenet.core.reading import read_judgement, read_rating

Outcome = Literal["right", "unscored rightly", "unscored wrongly", "wrong"]
OUTCOMES: tuple[Outcome, ...] = ("right", "unscored rightly", "unscored wrongly", "wrong")

Said = Choice | tuple[float, float] | float | None
"""What a text finally says: a choice, a pair of scores, a single rating, or nothing."""

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

_ZERO_TO_TEN = (0.0, 10.0)
"""Recorded judges were asked for 1 to 10 and sometimes gave 0; the stored scores keep it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded text and what it says. ``note`` tells why that is not what the source stored (``stored``)."""

    row: int
    text: str
    said: Said
    stored: Said = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """A set of recorded texts and the way to read them."""

    name: str
    cases: Callable[[Path], Iterator[Case]]
    read: Callable[[str], Reading | Unscored | float] = read_judgement


@dataclass(frozen=True, slots=True)
class Result:
    """How a set was read. ``missed`` are the texts read wrong or unscored wrongly, ``noted`` those with a note;
    both with what the reader says."""

    name: str
    outcomes: Counter[Outcome]
    reasons: Counter[str]
    script: Counter[Outcome]
    missed: list[tuple[Case, str]]
    noted: list[tuple[Case, str]]


def measure(data: Path, texts: Texts) -> Result:
    """Reads all texts of a set."""
    result = Result(texts.name, Counter(), Counter(), Counter(), [], [])
    for case in texts.cases(data):
        reading = texts.read(case.text)
        got = _told(reading)
        outcome = _outcome(case.said, got)
        result.outcomes[outcome] += 1
        result.script[_outcome(case.said, script_reading(case.text))] += 1
        if isinstance(reading, Unscored):
            result.reasons[reading.reason] += 1
        shown = f"unscored: {reading.reason}" if isinstance(reading, Unscored) else show(got)
        if case.note:
            result.noted.append((case, shown))
        if outcome in ("wrong", "unscored wrongly"):
            result.missed.append((case, shown))
    return result


def script_reading(text: str) -> tuple[float, float]:
    """What the WideDeep script stores: the first match of each label, case as written; 0 and 0 where one fails."""
    scores = []
    for number in (1, 2):
        found = re.search(rf"Score of (?:the )?Assistant {number}:\s*([\d\.]+)", text)
        try:
            scores.append(float(found[1]) if found else None)
        except ValueError:
            scores.append(None)
    first, second = scores
    return (0.0, 0.0) if first is None or second is None else (first, second)


def _outcome(said: Said, got: Said) -> Outcome:
    if got is None:
        return "unscored rightly" if said is None else "unscored wrongly"
    if isinstance(got, tuple) and not isinstance(said, tuple):
        got = choice_of(*got)
    return "right" if got == said else "wrong"


def _told(reading: Reading | Unscored | float) -> Said:
    if isinstance(reading, Unscored):
        return None
    if isinstance(reading, float):
        return reading
    if reading.first is None or reading.second is None:
        return reading.choice
    return reading.first, reading.second


def _zero_to_ten(text: str) -> Reading | Unscored:
    return read_judgement(text, scale=_ZERO_TO_TEN)


def _rating(text: str) -> float | Unscored:
    return read_rating(text, scale=_ZERO_TO_TEN)


def show(said: Said) -> str:
    """A verdict in a few letters."""
    if isinstance(said, tuple):
        return f"{said[0]:g} and {said[1]:g}"
    return "nothing" if said is None else f"{said:g}" if isinstance(said, float) else said


def _records(data: Path, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, line in enumerate((data / name).read_bytes().split(b"\n")):
        if line.strip():
            yield row, json.loads(line)


def _shown(winner: str | None, order: str) -> Choice | None:
    """A stored winner ("a", "b", "tie" of the pair) in the order shown."""
    if winner is None or winner == "tie":
        return "tie" if winner else None
    return "first" if (winner == "a") == (order == "ab") else "second"


# The sets

_FASTCHAT: dict[int, tuple[tuple[float, float], str]] = {
    229: ((10.0, 4.0), "labelled 10 and 4 under the heading of the scores; 10 and 2 are stored"),
    389: ((10.0, 4.0), "labelled 10 and 4 under the heading of the scores; 10 and 2 are stored"),
    1424: ((9.0, 9.0), "9/10 for both; 8 and 8 are stored"),
}


def _fastchat(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "fastchat_vicuna/judgments.jsonl"):
        first, second = record["recorded_scores"]
        stored: Said = None if first < 0 else (float(first), float(second))
        said, note = _FASTCHAT.get(row, (stored, ""))
        yield Case(row, record["text"], said, stored, note)


_NEITHER = "ends with: neither (a) nor (b) is better"
_BOTH_BETTER = "calls (b) better, then (a), and does not conclude"
_TWICE = "concludes twice, once for each output"
_DECLINES = "declines to decide: cannot claim that either one is better"
_LLMBAR: dict[str, dict[int, tuple[Choice | None, str]]] = {
    "cot": {
        1916: ("tie", _NEITHER),
        4681: (None, _DECLINES),
        4872: (None, _BOTH_BETTER),
        6055: ("tie", _NEITHER),
        8022: (None, _TWICE),
    },
    "swap_cot": {
        367: ("tie", _NEITHER),
        1331: (None, _DECLINES),
        1606: (None, _BOTH_BETTER),
        3365: ("tie", _NEITHER),
        6086: (None, _TWICE),
    },
}
"""Texts that were read by a person because reader and stored final statement differ."""

_SIDES: dict[str | None, Choice | None] = {"a": "first", "b": "second", "tie": "tie", None: None}


def _llmbar(name: str) -> Callable[[Path], Iterator[Case]]:
    def cases(data: Path) -> Iterator[Case]:
        for row, record in _records(data, f"llmbar/judgments_{name}.jsonl"):
            stored = _SIDES[record["final_statement"]]
            said, note = _LLMBAR[name].get(row, (stored, ""))
            yield Case(row, record["text"], said, stored, note)

    return cases


def _llmbar_short(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "llmbar/judgments_short.jsonl"):
        yield Case(row, record["text"], _shown(record["recorded_winner"], record["order"]))


def _llmbar_rating(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "llmbar/judgments_rating.jsonl"):
        for side in ("a", "b"):
            text = record[f"score_text_{side}"]
            yield Case(row, text, float(text) if text.strip() else None)


def _judgebench(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "judgebench/judgments.jsonl"):
        if record.get("text") is not None:
            decision = record["recorded_decision"]
            yield Case(row, record["text"], _SIDES[decision and {"A>B": "a", "B>A": "b", "A=B": "tie"}[decision]])


def _chateval(data: Path) -> Iterator[Case]:
    """No verdict is stored: the last word tells it ("Assistant 1", "Answer: Same")."""
    for row, record in _records(data, "chateval/judgments.jsonl"):
        side = {"1": "a", "2": "b", "Same": "tie"}.get(record["text"].split()[-1])
        yield Case(row, record["text"], _SIDES[side])


def _chateval_scores(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "chateval/score_format_samples.jsonl"):
        first, second = record["scores"]
        yield Case(row, record["text"], (first, second))


def _chateval_fork(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "chateval_fork_it/texts_single_score.jsonl"):
        yield Case(row, record["text"], None)


def _mtbench_pairs(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "mtbench_fork/judgments_pair.jsonl"):
        yield Case(row, record["text"], _shown(record["recorded_winner"], record["order"]))


def _mtbench_single(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "mtbench_fork/judgments_single.jsonl"):
        score = record["recorded_score"]
        yield Case(row, record["text"], None if score is None or score < 0 else float(score))


def _arena(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "arena_bench/judgments.jsonl"):
        score = record["score"]
        yield Case(row, record["judgment"], None if score is None else float(score))


def _autoj(data: Path) -> Iterator[Case]:
    for row, record in _records(data, "autoj/gpt4_feedback_comparison_texts.jsonl"):
        yield Case(row, record["text"], _SIDES[{"A": "a", "B": "b", "C": "tie"}[record["text"][0]]])


SETS = (
    Texts("fastchat_vicuna", _fastchat, _zero_to_ten),
    Texts("llmbar cot", _llmbar("cot")),
    Texts("llmbar swap_cot", _llmbar("swap_cot")),
    Texts("llmbar short", _llmbar_short),
    Texts("llmbar rating", _llmbar_rating, _rating),
    Texts("judgebench", _judgebench),
    Texts("chateval", _chateval),
    Texts("chateval scores", _chateval_scores),
    Texts("chateval_fork_it", _chateval_fork, _zero_to_ten),
    Texts("mtbench_fork pairs", _mtbench_pairs),
    Texts("mtbench_fork single", _mtbench_single, _rating),
    Texts("arena_bench", _arena, _rating),
    Texts("autoj", _autoj),
)


# The report


def main(data: Path = DATA) -> int:
    """Prints the tables; 1 where something is read wrong or unscored wrongly, 2 without the data."""
    if not data.is_dir():
        print("The reference data is not on this machine.", file=sys.stderr)
        return 2
    results = [measure(data, texts) for texts in SETS]
    print("Verdicts of recorded texts, by the reader and by the pattern of the WideDeep script")
    print(f"{'':22}{'':>8}  {'the reader':^44}  {'the script':^16}")
    heads = ("texts", "right", "unscored", "unscored", "wrong", "right", "wrong")
    print(f"{'set':22}{heads[0]:>8}  " + "".join(f"{head:>11}" for head in heads[1:5]) + "  ", end="")
    print("".join(f"{head:>8}" for head in heads[5:]))
    print(f"{'':22}{'':>8}  {'':>11}{'rightly':>11}{'wrongly':>11}")
    for result in results:
        counts = "".join(f"{result.outcomes[outcome]:>11,}" for outcome in OUTCOMES)
        script = f"{result.script['right']:>8,}{result.script['wrong']:>8,}"
        print(f"{result.name:22}{result.outcomes.total():>8,}  {counts}  {script}")
    print()
    print("A verdict is wrong where it is another than the text finally says; the script stores 0 and 0, a tie,")
    print("where its pattern fails, so that it is never unscored and right only where the text ends in a tie.")
    print()
    print("Why texts are unscored")
    for result in results:
        if result.reasons:
            print(f"{result.name:22}" + ", ".join(f"{reason} {n:,}" for reason, n in result.reasons.most_common()))
    print()
    print("Where the text does not say what the source stored (row counted from 0; each was read by a person)")
    for result in results:
        for case, shown in result.noted:
            print(f"{result.name:18}{case.row:>6}  stored {show(case.stored):9}  read {shown:24}  {case.note}")
    missed = [(result.name, *miss) for result in results for miss in result.missed]
    for name, case, shown in missed:
        print(f"NOT EXPLAINED  {name} {case.row}: the text says {show(case.said)}, read {shown}")
    print()
    print(f"A plain JSON reply takes {_short_way():.1f} times the CPU of json.loads alone.")
    return 1 if missed else 0


def _short_way() -> float:
    evidence = "The first response gives reasons for each of its steps, the second names the result alone. " * 6
    reply = json.dumps({"evidence": evidence, "score_1": 8, "score_2": 6})

    def cpu(work: Callable[[str], object]) -> float:
        times: list[float] = []
        for _ in range(7):
            start = time.process_time()
            for _ in range(2000):
                work(reply)
            times.append(time.process_time() - start)
        return min(times)

    return cpu(read_judgement) / cpu(json.loads)


if __name__ == "__main__":
    sys.exit(main())
