"""The newest bias lab of a project in its report, in all forms."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet
from tests.unit.cli.test_bias import write_pairs
from tests.unit.cli.test_json import nulls_without_reason

NETWORK = ("--width", 2, "--depth", 2, "--roles", "none", "-j", 32)
PROBES = ("--probes", "order,compassion,egocentric,salience,bandwagon,identical")


COUNT = 24
"""Pairs, two an instruction."""


def project(judgenet: Judgenet, tmp_path: Path, mind: str, *, with_lab: bool = True) -> None:
    """A run of pairs of two systems and a lab on them, in the folder ``out``."""
    pairs = write_pairs(tmp_path / "pairs.jsonl", COUNT)
    with JudgeServer(mind=mind, keep="none") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", *NETWORK, "--out", "out")
        assert judgenet("run", *at).code == 0
        if with_lab:
            ran = judgenet("bias", *at, *PROBES, "--own-system", "mine", "-q")
            assert ran.code == 0, ran.err


def written(judgenet: Judgenet, tmp_path: Path, *options: object, forms: str = "md") -> dict[str, str]:
    files = [tmp_path / f"report.{form}" for form in forms.split()]
    ran = judgenet("report", "out", *(part for file in files for part in ("-o", file)), *options)
    assert ran.code == 0, ran.err
    return {file.suffix[1:]: file.read_text(encoding="utf-8") for file in files if file.suffix != ".pdf"}


def test_a_lab_is_a_part_of_the_report_in_every_form(judgenet: Judgenet, tmp_path: Path) -> None:
    project(judgenet, tmp_path, "first")
    found = written(judgenet, tmp_path, forms="html md tex csv json pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    text = found["md"]
    assert "## Bias lab (Lab 1, 24 pairs of 12 instructions)" in text
    # A judge of the first position: all 24 pairs, far above a quarter.
    assert "| Order | 1.00 |" in text
    assert "Prefers the first response" in text
    # Every pair is order-biased: none is left for length and own system.
    assert "no pair was judged the same way in both orders" in text
    assert "first 24, last 0" in text
    assert "RANDOM is the share that chance alone gives" in text
    assert "What real names change" in text
    for form in ("html", "tex"):
        assert "Bias lab" in found[form]
        assert "Prefers the first response" in found[form]
    assert "Seed 0." in text

    lab = json.loads(found["json"])["bias"]
    cells = {(cell["probe"], cell["judge"]): cell for cell in lab["cells"]}
    assert cells["order", "network"]["share"] == 1.0
    assert cells["salience", "network"]["share"] is None
    assert cells["salience", "network"]["reasons"]["share"]
    assert "codes" not in cells["order", "network"]
    assert list(nulls_without_reason(lab)) == []
    rows = list(csv.DictReader(io.StringIO(found["csv"])))

    def figure(about: str, name: str, what: str) -> dict[str, Any]:
        return next(row for row in rows if (row["about"], row["name"], row["figure"]) == (about, name, what))

    assert float(figure("bias", "order|network", "share")["value"]) == 1.0
    assert figure("bias", "order|network", "share")["n_used"] == str(COUNT)
    assert float(figure("bias", "order", "random")["value"]) == 0.25
    missing = figure("bias", "salience|network", "share")
    assert (missing["value"], bool(missing["reason"])) == ("", True)
    assert float(figure("bias difference", "order|single|network", "share")["value"]) == 0.0
    undefined = [row for row in rows if row["about"].startswith("bias") and not row["value"] and not row["reason"]]
    assert undefined == []


def test_the_part_can_be_left_out_and_is_not_there_without_a_lab(judgenet: Judgenet, tmp_path: Path) -> None:
    project(judgenet, tmp_path, "unbiased", with_lab=False)
    found = written(judgenet, tmp_path, forms="md json")
    assert "Bias lab" not in found["md"]
    assert json.loads(found["json"])["bias"] is None
    project(judgenet, tmp_path, "unbiased")
    assert "Bias lab" in written(judgenet, tmp_path, "--part", "bias")["md"]
    assert "Bias lab" not in written(judgenet, tmp_path, "--without", "bias")["md"]


def test_a_lab_without_a_run_is_a_report_of_its_own(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 24)
    with JudgeServer(mind="last", keep="none") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", *NETWORK, "--out", "out")
        judgenet("bias", *at, "--probes", "order,bandwagon", "-q")
    found = written(judgenet, tmp_path, forms="html md tex csv json pdf")
    assert "# Biases of the judges" in found["md"]
    assert "Prefers the last response" in found["md"]
    assert "first 0, last 24" in found["md"]
    assert "Prefers the last response" in found["html"]
    lab = json.loads(found["json"])["bias"]
    assert next(cell for cell in lab["cells"] if cell["judge"] == "network")["net"] == -1.0
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    net = next(row for row in rows if (row["name"], row["figure"]) == ("order|network", "net"))
    assert float(net["value"]) == -1.0
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("form", ["md", "html"])
def test_names_of_systems_are_no_markup(judgenet: Judgenet, tmp_path: Path, form: str) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 8)
    pairs.write_text(pairs.read_text().replace('"mine"', '"<b>x</b>"'))
    with JudgeServer(mind="unbiased", keep="none") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", *NETWORK, "--out", "out")
        judgenet("run", *at)
        judgenet("bias", *at, "--probes", "order,egocentric", "--own-system", "<b>x</b>", "-q")
    assert "<b>x</b>" not in written(judgenet, tmp_path, forms=form)[form]
