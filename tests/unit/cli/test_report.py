"""``judgenet report`` as a user types it: every form, no screen, clear refusals."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.cli.main import main
from judgenet.core.network import Aggregation
from judgenet.core.project import Project
from judgenet.store.files import save_project
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    pairs = labelled_pairs(12)
    say, _ = random_say(pairs)
    record(folder / "run.judgenet.db", pairs, say, fixed_network(2, 2))
    return folder


def without_a_screen(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.pop("QT_QPA_PLATFORM", None)
    return subprocess.run(
        [sys.executable, "-m", "judgenet", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env=env,
        check=False,
    )


def test_all_forms_at_once_without_a_screen(run: Path, tmp_path: Path) -> None:
    names = ("r.html", "r.pdf", "r.md", "r.tex", "r.csv", "r.json")
    files = [tmp_path / "new folder" / name for name in names]
    done = without_a_screen("report", str(run), *(part for file in files for part in ("-o", str(file))))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.split("\n") == [*map(str, files), ""]
    begin = {file.suffix: file.read_bytes()[:9] for file in files}
    assert begin[".html"] == b"<!doctype"
    assert begin[".pdf"].startswith(b"%PDF-")
    assert begin[".tex"].startswith(b"% Tables")
    figures = json.loads(files[5].read_text("utf-8"))
    with files[4].open(encoding="utf-8", newline="") as lines:
        rows = {(row["about"], row["name"], row["figure"]): row["value"] for row in csv.DictReader(lines)}
    accuracy = figures["aggregations"]["c2_all"]["accuracy"]
    assert float(rows["aggregation", "c2_all", "accuracy"]) == accuracy
    for name in ("r.html", "r.md"):
        assert f"{100 * accuracy:.1f} %" in (tmp_path / "new folder" / name).read_text("utf-8")


def test_the_figures_are_those_of_metrics(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "r.json")]) == 0
    capsys.readouterr()
    assert main(["metrics", str(run), "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    for name, expected in metrics["aggregations"].items():
        assert report["aggregations"][name] == expected
    position = metrics["position"]["c1"]
    for figure in ("flip_rate", "first_first", "last_last", "valid_both", "p", "questions_p"):
        assert report["position"][figure] == position[figure]
    assert report["about"]["spent"]["price"] == pytest.approx(metrics["cost"]["price"])
    assert report["calls_used"] == metrics["calls"]["finished_pairs_used"]


def test_the_win_rates_are_those_of_rate(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "r.json")]) == 0
    capsys.readouterr()
    assert main(["rate", str(run), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))["rates"]
    for name in ("naive", "stratified", "ppi", "human_only", "lee", "k_class"):
        assert found["estimates"][name] == expected[name]
    assert found["estimates"]["lee"]["value"] is None
    assert "tie" in found["estimates"]["lee"]["reason"]
    for figure in ("value", "ci", "n", "slope"):
        assert found["length_adjusted"][figure] == expected["length_adjusted"][figure]
    for part in ("decided", "these_pairs", "worth", "strata", "chosen", "chosen_assumed", "labels"):
        assert found[part] == expected[part]


def test_another_verdict_and_fewer_pairs(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    assert main(["report", str(run), "-o", str(file), "--aggregation", "c1", "--pairs", "0", "--seed", "9"]) == 0
    report = json.loads(file.read_text("utf-8"))
    assert (report["decides"], report["studies"], report["bootstrap_seed"]) == ("c1", [], 9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["-o", "r.docx"],
            "-o r.docx: the ending of the file sets the format. Known endings: .html, .pdf, .md, .tex, .csv, .json, "
            ".htm.",
        ),
        (["-o", "r"], "-o r: the ending of the file sets the format."),
        (["-o", "r.md", "--aggregation", "c9"], "--aggregation c9: this network has no such aggregation. It has: c1,"),
        ([], "Missing option"),
    ],
)
def test_refusals(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(run), *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 2
    assert "no run here" in capsys.readouterr().err


def test_no_form_needs_qt(run: Path, tmp_path: Path) -> None:
    outputs = [str(tmp_path / f"r{ending}") for ending in (".html", ".pdf", ".md", ".tex", ".csv", ".json")]
    options = [word for output in outputs for word in ("-o", output)]
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('PySide6', 'shiboken6', 'qasync', 'pyqtgraph'))); "
        f"from judgenet.cli.main import main; assert main(['report', {str(run)!r}, *{options!r}]) == 0"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=True)
    assert all(Path(output).stat().st_size > 1000 for output in outputs)


def test_letters_without_a_font_are_told(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("judgenet.report.writers.pdf.letters_without_font", lambda document: "青" * 30)
    assert main(["report", str(run), "-o", str(tmp_path / "r.md")]) == 0
    assert "no font" not in capsys.readouterr().err
    assert main(["report", str(run), "-o", str(tmp_path / "r.pdf")]) == 0
    said = capsys.readouterr().err
    assert f"no font on this machine has {'青' * 20} and others. They are printed as boxes." in said


def test_an_earlier_report_is_replaced_whole(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.md"
    file.write_text("before", encoding="utf-8")
    assert main(["report", str(run), "-o", str(file)]) == 0
    assert file.read_text("utf-8").startswith("Report of run 1")
    assert [path.name for path in tmp_path.iterdir()] == ["r.md"]


def test_parts_another_run_and_how_labels_were_chosen(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = labelled_pairs(12)
    other = tmp_path / "other"
    other.mkdir()
    record(other / "run.judgenet.db", pairs, random_say(pairs, seed=5)[0], fixed_network(2))
    file = tmp_path / "r.md"
    options = ["--compare", str(other), "--chosen", "random", "--part", "comparison", "--part", "method"]
    assert main(["report", str(run), "-o", str(file), "-o", str(tmp_path / "r.json"), *options]) == 0
    text = file.read_text("utf-8")
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Compared with other, run-1 (run-1 less other, run-1)",
        "## Method",
    ]
    capsys.readouterr()
    assert main(["compare", str(run), str(other), "--chosen", "random", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))["beside"]
    for name, difference in expected["differences"].items():
        assert found["differences"][name] == difference
    assert found["rate"]["difference"] == expected["rate"]["difference"]
    assert found["mcnemar"] == expected["mcnemar"]
    assert found["common"] == expected["pairs"]["common"]
    assert main(["report", str(run), "-o", str(file), "--without", "prompts", "--without", "pairs"]) == 0
    assert "## Prompts as sent" not in file.read_text("utf-8")
    assert main(["report", str(run), "-o", str(file), "--part", "nothing"]) == 2
    assert "--part nothing: there is no such part. Parts: run, cascade, agreement" in capsys.readouterr().err


def test_the_rule_of_the_project_is_taken(tmp_path: Path) -> None:
    pairs = labelled_pairs(12)
    spec = fixed_network(2, 2)
    record(tmp_path / "run.judgenet.db", pairs, random_say(pairs)[0], spec)
    project = Project.new("study", replace(spec, aggregation=Aggregation(ties="candidate")))
    save_project(replace(project, metadata={"aggregation": "c2_l1"}), tmp_path / "run.judgenet")
    found = []
    for options in ([], ["--own-rules"], ["--aggregation", "c1"]):
        assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.json"), *options]) == 0
        figures = json.loads((tmp_path / "r.json").read_text("utf-8"))
        found.append((figures["decides"], figures["spec"]["aggregation"]["ties"]))
    assert found == [("c2_l1", "candidate"), ("c2_all", "abstain"), ("c1", "candidate")]


def test_one_page_in_every_form(run: Path, tmp_path: Path) -> None:
    names = ("s.html", "s.pdf", "s.md", "s.tex", "s.csv", "s.json")
    files = [tmp_path / name for name in names]
    outputs = [word for file in files for word in ("-o", str(file))]
    assert main(["report", str(run), "--short", *outputs]) == 0
    text = (tmp_path / "s.md").read_text("utf-8")
    assert "## Left out" in text
    assert "## Sources" not in text
    assert (tmp_path / "s.pdf").read_bytes().startswith(b"%PDF")
    assert json.loads((tmp_path / "s.json").read_text("utf-8"))["neurons"] == []
    assert "Each pair was judged by" in (tmp_path / "s.tex").read_text("utf-8")


def test_the_short_report_has_its_own_parts(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "--short", "--part", "method", "-o", str(tmp_path / "s.md")]) == 2
    assert "--short has its own parts" in capsys.readouterr().err
