"""Judgments made elsewhere as a run, and the published figures that follow from such runs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import precision_score, recall_score  # type: ignore[import-untyped]

from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.pairs import Order, Pair, Verdict
from judgenet.formats import DataError, read_pairs
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.stats.agreement import (
    Agreement,
)
from judgenet.store.db import Store
from judgenet.store.recorded import ReadingMode, Unread, import_run, select
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, call_rows, full_calls
from tests.pair_verdicts import pair_results
from tests.short_forms import agreement

PAIRS = [Pair(f"p{i}", f"Q{i}", "x", "y", human="a") for i in range(3)]


class Run:
    """A run of recorded judgments in a store of its own."""

    def __init__(
        self,
        folder: Path,
        files: Sequence[Path],
        pairs: Sequence[Pair],
        where: str | None = None,
        reading: ReadingMode = "recorded",
        unread: Unread = "missing",
        neuron: Sequence[str] = ("judge", "prompt"),
    ) -> None:
        selected = select(read_judgments(files), pairs, parse_conditions(where) if where else None, neuron)
        self.selected = selected
        path = folder / f"{len(list(folder.iterdir()))}.judgenet.db"
        with Store.open(path) as store:
            run: RunInfo = import_run(store, selected, reading=reading, unread=unread)
        self.store = Store.open(path, readonly=True)
        self.run = run

    @property
    def names(self) -> list[str]:
        return [neuron.role.name for neuron in network_of(self.run).layers[0].neurons if neuron.role is not None]

    def verdicts(self, neuron: str) -> dict[str, Verdict | None]:
        """The verdict of a neuron, its orders merged, by pair."""
        place = self.names.index(neuron) + 1
        return {
            result.pair.pair.id: one.verdict
            for result in pair_results(self.store, self.run)
            for one in (result.verdicts.neurons if result.verdicts else ())
            if one.neuron == place
        }

    def calls(self) -> dict[tuple[str, Order, str], Verdict | None]:
        """The verdict of each call that is recorded, by neuron, order and pair."""
        ids = [pair.id for pair in self.selected.pairs]
        names = self.names
        return {
            (names[row.site.neuron - 1], row.site.order, ids[row.site.pair]): (
                row.result.verdict if isinstance(row.result, Evaluation) else None
            )
            for row in call_rows(self.store, self.run, evidence=False)
            if row.site.order is not None
            and not (isinstance(row.result, Unscored) and row.result.reason is Reason.NOT_RECORDED)
        }

    def agreement(self, neuron: str) -> Agreement:
        human = {pair.id: pair.human for pair in self.selected.pairs}
        judged = self.verdicts(neuron)
        return agreement([human[one] for one in judged], list(judged.values()))


def written(folder: Path, *records: Mapping[str, Any]) -> Path:
    path = folder / f"judgments-{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_verdict_counts_one_point_where_orders_are_merged(tmp_path: Path) -> None:
    calls = {"p0": ("a", "b"), "p1": ("b", "tie"), "p2": (None, "b")}
    file = written(
        tmp_path,
        *(
            {"pair_id": pair, "judge": "j", "order": order, "recorded_winner": verdict}
            for pair, both in calls.items()
            for order, verdict in zip(("ab", "ba"), both, strict=True)
        ),
    )
    run = Run(tmp_path, [file], PAIRS)
    assert run.names == ["j"]
    assert run.verdicts("j") == {"p0": "tie", "p1": "b", "p2": "b"}
    assert run.run.state == "done"


def test_neurons_are_named_by_judge_and_prompt_and_hold_their_samples(tmp_path: Path) -> None:
    base = {"pair_id": "p0", "order": "ab", "verdict": "a"}
    file = written(
        tmp_path,
        {**base, "judge": "j", "prompt": "one"},
        {**base, "judge": "j", "prompt": "two"},
        {**base, "judge": "j", "prompt": "two", "verdict": "b"},
        {**base, "judge": "k"},
        {**base, "judge": "k", "pair_id": "p1"},
        {**base, "judge": "k", "pair_id": "elsewhere"},
    )
    run = Run(tmp_path, [file], PAIRS)
    assert run.names == ["j|one", "j|two", "k"]
    assert [neuron.settings.samples for neuron in network_of(run.run).layers[0].neurons] == [1, 2, 1]
    assert run.verdicts("j|two") == {"p0": "tie", "p1": None}
    told = run.run.record["recorded"]
    assert (told["judgments_without_pair"], told["pairs_without_judgment"], told["calls"]) == (1, 1, 5)
    missing = [row.result for row in call_rows(run.store, run.run) if isinstance(row.result, Unscored)]
    assert {one.reason for one in missing} == {Reason.NOT_RECORDED}


def test_the_last_stage_is_the_word_of_a_judge(tmp_path: Path) -> None:
    rows = [
        {"pair_id": "p0", "judge": "j", "order": "ab", "stage": stage, "verdict": verdict}
        for stage, verdict in ((2, "b"), (1, "a"))
    ]
    run = Run(tmp_path, [written(tmp_path, *rows)], PAIRS)
    assert run.verdicts("j") == {"p0": "b"}
    assert run.run.record["recorded"]["judgments_of_earlier_stages"] == 1


def test_texts_are_read_by_choice_or_where_nothing_else_is_recorded(tmp_path: Path) -> None:
    text = "Therefore, Output (a) is better."
    file = written(
        tmp_path,
        {"pair_id": "p0", "judge": "j", "order": "ba", "text": text, "verdict": "a"},
        {"pair_id": "p1", "judge": "j", "order": "ba", "text": text},
        {"pair_id": "p2", "judge": "j", "order": "ba", "verdict": "tie"},
    )
    as_recorded = Run(tmp_path, [file], PAIRS)
    assert as_recorded.verdicts("j") == {"p0": "a", "p1": "b", "p2": "tie"}
    anew = Run(tmp_path, [file], PAIRS, reading="text")
    assert anew.verdicts("j") == {"p0": "b", "p1": "b", "p2": "tie"}
    told = as_recorded.run.record["recorded"]
    assert (told["reading"], told["taken_as_recorded"], told["read_from_text"]) == ("recorded", 2, 1)
    assert "2 of 3 calls as the source read them, 1 read from their texts" in as_recorded.run.message
    assert [call.raw_text for call in full_calls(anew.store, anew.run)] == [text, text, ""]


def test_the_same_import_is_the_same_run(tmp_path: Path) -> None:
    selected = select(
        read_judgments([written(tmp_path, {"pair_id": "p0", "judge": "j", "order": "ab", "verdict": "a"})]), PAIRS
    )
    with Store.open(tmp_path / "x.judgenet.db") as store:
        first = import_run(store, selected)
        again = import_run(store, selected)
        other = import_run(store, selected, unread="tie")
        assert len(list(call_rows(store, again))) == 1
    assert (first.id, again.id, other.id) == ("run-1", "run-1", "run-2")


def test_judgments_of_other_pairs_are_an_error_that_names_both(tmp_path: Path) -> None:
    file = written(tmp_path, {"pair_id": "q9", "judge": "j", "order": "ab", "verdict": "a"})
    with pytest.raises(DataError, match="they name q9, the pairs are p0, p1, p2"):
        Run(tmp_path, [file], PAIRS)


# Published figures


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.data
@pytest.mark.parametrize(
    ("judge", "unread", "key"),
    [
        ("gpt-3.5-turbo", "tie", "unparsed_as_tie__PUBLISHED"),
        ("gpt-3.5-turbo", "missing", "unparsed_excluded"),
        ("pandalm-7b", "tie", "unparsed_as_tie__PUBLISHED"),
        ("pandalm-7b", "missing", "unparsed_excluded"),
    ],
)
def test_pandalm(
    shared_data: Path, tmp_path: Path, expected: dict[str, Any], judge: str, unread: Unread, key: str
) -> None:
    folder = shared_data / "pandalm"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    want = expected["pandalm"][judge][key]
    for file in (folder / "judgments.jsonl", folder / f"{judge}-testset-v1.json"):
        run = Run(tmp_path, [file], pairs, f"judge={judge}", unread=unread)
        found = run.agreement(judge)
        assert found.n_used == want["n"]
        assert found.accuracy == pytest.approx(want["accuracy"], abs=1e-6)
        assert found.macro_f1 == pytest.approx(want["macro_f1"], abs=1e-6)
        assert found.kappa == pytest.approx(want["cohen_kappa"], abs=1e-6)
        judged = run.verdicts(judge)
        both = [(pair.human, judged[pair.id]) for pair in run.selected.pairs if judged[pair.id] is not None]
        truth, said = [one for one, _ in both], [one for _, one in both]
        assert precision_score(truth, said, average="macro") == pytest.approx(want["macro_precision"], abs=1e-6)
        assert recall_score(truth, said, average="macro") == pytest.approx(want["macro_recall"], abs=1e-6)


@pytest.mark.data
def test_autoj(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    folder = shared_data / "autoj"
    run = Run(tmp_path, [folder / "judgments.jsonl"], read_pairs(folder / "pairs.jsonl").pairs)
    calls = run.calls()
    both = [
        (pair.human, calls["autoj-13b", "ab", pair.id], calls["autoj-13b", "ba", pair.id])
        for pair in run.selected.pairs
    ]
    assert sum(human == ab == ba for human, ab, ba in both) / len(both) == pytest.approx(0.5496, abs=5e-5)
    assert sum(ab == ba for _, ab, ba in both) / len(both) == pytest.approx(0.8341, abs=5e-5)
    for place, order in ((1, "order_ab"), (2, "order_ba")):
        found = agreement([one[0] for one in both], [one[place] for one in both])
        assert found.accuracy == pytest.approx(expected["autoj"][order]["accuracy"], abs=1e-6)
        assert found.kappa == pytest.approx(expected["autoj"][order]["cohen_kappa"], abs=1e-6)
    between = agreement([ab for _, ab, _ in both], [ba for _, _, ba in both])
    assert between.kappa == pytest.approx(0.6927, abs=5e-5)


JUDGEBENCH_CATEGORIES = {
    "Knowledge": "mmlu-pro",
    "Reasoning": "livebench-reasoning",
    "Math": "livebench-math",
    "Coding": "livecodebench",
}


@pytest.mark.data
def test_judgebench(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    folder = shared_data / "judgebench"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    for judge, want in expected["judgebench"].items():
        run = Run(tmp_path, [folder / "judgments.jsonl"], pairs, f"judge={judge}")
        (name,) = run.names
        judged = run.verdicts(name)
        right = sum(judged[pair.id] == pair.human for pair in run.selected.pairs)
        assert (right, len(judged)) == (want["Overall"]["correct"], want["Overall"]["n"]), judge
        assert 100 * right / len(judged) == pytest.approx(want["Overall"]["pct"], abs=5e-3)
        for category, begins in JUDGEBENCH_CATEGORIES.items():
            own = [pair for pair in run.selected.pairs if pair.task and pair.task.startswith(begins)]
            right = sum(judged[pair.id] == pair.human for pair in own)
            assert (right, len(own)) == (want[category]["correct"], want[category]["n"]), (judge, category)
        calls, inconsistent = run.calls(), want["inconsistent_between_orders"]
        both = [(calls[name, "ab", pair.id], calls[name, "ba", pair.id]) for pair in run.selected.pairs]
        decided = [one for one in both if None not in one]
        differ = sum(ab != ba for ab, ba in decided)
        if isinstance(inconsistent, dict):
            assert [differ, len(decided)] == inconsistent["of_pairs_with_both_verdicts"], judge
            assert len(both) - len(decided) == inconsistent["lacking_a_verdict"], judge
        else:
            assert differ == inconsistent, judge


@pytest.mark.data
def test_vicuna_blog(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    folder = shared_data / "fastchat_vicuna"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    for file, want in expected["fastchat_vicuna"].items():
        if file.startswith("_"):
            continue
        run = Run(tmp_path, [folder / "judgments.jsonl"], pairs, f"source_file={file}", neuron=("judge",))
        scored = [
            (row.result.score_a, row.result.score_b)
            for row in call_rows(run.store, run.run)
            if isinstance(row.result, Evaluation)
        ]
        sums = [sum(one[side] or 0 for one in scored) for side in (0, 1)]
        if isinstance(want, dict):
            assert (sums, 80 - len(scored)) == (want["sums"], want["unscored"]), file
        else:
            assert sums == want[:2], file
            counts = Counter(run.verdicts(run.names[0]).values())
            assert [counts["a"], counts["b"], counts["tie"]] == want[2:], file


@pytest.mark.data
def test_vicuna_blog_texts_say_otherwise_in_three_rows(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "fastchat_vicuna"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    for file, want in (("bard", (664.0, 657.5)), ("llama-13b", (513.0, 696.0))):
        where = f"source_file=vicuna-13b_20230322-clean-lang/review_{file}_vicuna-13b.jsonl"
        run = Run(tmp_path, [folder / "judgments.jsonl"], pairs, where, reading="text", neuron=("judge",))
        scored = [row.result for row in call_rows(run.store, run.run) if isinstance(row.result, Evaluation)]
        assert (sum(one.score_a or 0 for one in scored), sum(one.score_b or 0 for one in scored)) == want


@pytest.mark.data
def test_llmbar_statistics(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "llmbar"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    files = [folder / f"judgments_{name}.jsonl" for name in ("cot", "swap_cot", "short", "rating")]
    run = Run(tmp_path, files, pairs)
    by_subset: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_subset[pair.task or ""].append(pair)
    calls = run.calls()
    lines = (folder / "statistics.jsonl").read_text(encoding="utf-8").splitlines()
    checked = 0
    for want in map(json.loads, lines):
        name = f"{want['judge']}|{want['prompt']}"
        subset = by_subset[want["subset"]]
        if not all((name, "ab", pair.id) in calls for pair in subset):
            continue
        both = [(pair.human, calls[name, "ab", pair.id], calls[name, "ba", pair.id]) for pair in subset]
        found = (
            len(both),
            sum(ab == human for human, ab, _ in both),
            sum(ba == human for human, _, ba in both),
            sum(human == ab == ba for human, ab, ba in both),
            sum(ab == ba for _, ab, ba in both),
        )
        figures = ("n", "correct_ab", "correct_ba", "correct_both_orders", "order_agreement")
        assert found == tuple(want[figure] for figure in figures), (name, want["subset"])
        average = 100 * (found[1] + found[2]) / (2 * len(both))
        assert average == pytest.approx(want["accuracy_average_pct"], abs=1e-6)
        unparsed = [sum(one[place] is None for one in both) for place in (1, 2)]
        assert unparsed == [want["unparsed_ab"], want["unparsed_ba"]], (name, want["subset"])
        for key, (one, other) in {"kappa_ab": (0, 1), "kappa_ba": (0, 2), "kappa_between_orders": (1, 2)}.items():
            if not any(unparsed):
                kappa = agreement([row[one] for row in both], [row[other] for row in both]).kappa
                assert want[key] == (None if kappa is None else pytest.approx(kappa, abs=1e-6)), (name, key)
        checked += 1
    # Of the other 290 rows no judgment is in the data: Swap, Metrics, Reference, Vanilla_1shot and Vanilla_2shot of all
    # subsets, Swap_CoT and Vanilla of the case studies, Metrics_Reference of all but the processed sets.
    tasks = {pair.id: pair.task for pair in pairs}
    assert checked == len({(name, tasks[pair]) for name, _, pair in calls}) == 209


@pytest.mark.data
def test_alpaca_eval_win_rates(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    # The published files come without the answers, so that pairs are found by their place.
    pairs = [Pair(str(place), f"Q{place}", "x", "y") for place in range(805)]
    for name, want in expected["alpaca_eval"].items():
        run = Run(tmp_path, [shared_data / "alpaca_eval" / f"{name}.jsonl"], pairs)
        scores = [row.result.score_b for row in call_rows(run.store, run.run) if isinstance(row.result, Evaluation)]
        assert len(scores) == want["n_scored"]
        mean = sum(one or 0 for one in scores) / len(scores)
        assert 100 * mean == pytest.approx(want["published_win_rate_pct"], abs=1e-5), name


@pytest.mark.data
def test_the_texts_of_llmbar_say_otherwise_than_the_source_took_them(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "llmbar"
    pairs = read_pairs(folder / "pairs.jsonl").pairs
    where = "task=LLMBar/*,judge=PaLM2"
    readings: tuple[ReadingMode, ...] = ("recorded", "text")
    found = {}
    for reading in readings:
        run = Run(tmp_path, [folder / "judgments_cot.jsonl"], pairs, where, reading=reading)
        found[reading] = run.agreement("PaLM2|CoT").accuracy
    assert found["recorded"] == pytest.approx(0.3254, abs=5e-5)
    # One text says "Output (b) is better" and then "Output (a)": for our reader it contradicts itself.
    assert found["text"] == pytest.approx(0.4881, abs=1 / 418)


@pytest.mark.data
def test_the_texts_of_mt_bench_say_what_was_recorded(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "mtbench_fork" / "judgments_pair.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    ids = dict.fromkeys(f"{row['question_id']}-{row['turn']}" for row in rows)
    pairs = [Pair(one, "Q", "x", "y", model_a="phi-3", model_b="phi-3-dpo") for one in ids]
    one = Run(tmp_path, [file], pairs)
    other = Run(tmp_path, [file], pairs, reading="text")
    assert one.calls() == other.calls()
    assert len(one.calls()) == 150
    assert sum(verdict is None for verdict in one.calls().values()) == 3


@pytest.mark.data
def test_the_vicuna_blog_against_faireval_s_labels(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    folder = shared_data / "fastchat_vicuna"
    pairs = [pair for pair in read_pairs(folder / "pairs.jsonl").pairs if pair.human]
    where = "judge=gpt-4,source_file=vicuna-13b_20230322-clean-lang/*"
    run = Run(tmp_path, [folder / "judgments.jsonl"], pairs, where, neuron=("judge",))
    want = expected["faireval"]["gpt-4 vicuna-blog review, score comparison"]
    found = run.agreement("gpt-4")
    assert found.n_used == want["n"]
    assert found.accuracy == pytest.approx(want["accuracy"], abs=1e-6)
    assert found.macro_f1 == pytest.approx(want["macro_f1"], abs=1e-6)
    assert found.kappa == pytest.approx(want["cohen_kappa"], abs=1e-6)


@pytest.mark.data
def test_the_single_judge_of_chateval(shared_data: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    """As many right as computed elsewhere, where what cannot be read counts as a tie; here it stays missing."""
    setting = "single_role/chain_of_thought"
    pairs = read_pairs(shared_data / "faireval" / "pairs.jsonl").pairs
    file = shared_data / "chateval" / "judgments.jsonl"
    run = Run(tmp_path, [file], pairs, f"setting={setting}", neuron=("setting",))
    found, want = run.agreement(setting), expected["chateval"][setting]
    assert found.accuracy is not None
    assert round(found.accuracy * found.n_used) == want["correct"]
    assert len(run.selected.pairs) == want["n"]
    assert found.n_used == 76
