"""The HTML report: nothing of the data is markup, nothing is asked of the network, every figure is there."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judgenet.core.calls import CallSite
from judgenet.core.network import Role
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.engine.budget import Limits
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.report.writers.html import html
from tests.unit.engine import harness
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record, reported

VOID = {"meta", "br", "hr", "img", "input", "link", "source", "wbr"}
OUR_TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "h3", "h5", "p", "b", "bdi", "span",
    "div", "figure", "figcaption", "svg", "path", "rect", "circle", "text", "table", "thead", "tbody", "tr", "th", "td",
    "dl", "dt", "dd", "ul", "li", "article", "blockquote", "details", "summary", "footer",
}  # fmt: skip


@dataclass
class Page(HTMLParser):
    """A page as a browser reads it: tags, attributes, text; unbalanced tags are told."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    style: str = ""
    open: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data}")

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


def page_of(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    return page


def written(report: Report) -> str:
    return html(outline(report))


EVIL = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg/onload=alert(3)>',
    "</style></title></textarea><!-- --><style>*{display:none}</style>",
    "{{ 7 * 7 }} {% include 'report.css' %} &lt;b&gt; &amp; &#60;",
    "line\u2028separator\u2029and\u0085next",
    "null \x00 bell \x07 escape \x1b[31m del \x7f",
    "lone \ud800 surrogate",
    "right \u202e to left \u2066 isolate",
    "javascript:alert(4) url(http://evil.example/x) @import 'http://evil.example/y';",
)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report all of whose texts attack."""
    pairs = [
        Pair(
            f"id {i} {text}",
            f"question {text}",
            f"one {text}",
            f"two {text}",
            task=f"task {text}",
            model_a=f"old {text}",
            model_b=f"new {text}",
            human=("a", "b")[i % 2],
        )
        for i, text in enumerate(EVIL)
    ]
    # The systems of a report are named where all pairs have the same two.
    pairs = [
        Pair(p.id, p.question, p.response_a, p.response_b, None, EVIL[1], EVIL[0], p.task, (), p.human) for p in pairs
    ]
    roles = tuple(Role(f"role {text}", text) for text in (EVIL[0], EVIL[1], EVIL[3]))
    spec = fixed_network(3, 2, roles=roles, name=f"net {EVIL[0]}")
    path = tmp_path_factory.mktemp("evil") / "run.judgenet.db"

    def wrong(site: CallSite) -> tuple[float, float]:
        """All pairs are judged against people, so that all are shown."""
        return (2, 9) if pairs[site.pair].human == "a" else (9, 2)

    record(path, pairs, wrong, spec, evidence=lambda site: f"because {EVIL[site.pair]}", record=EVIL_RECORD)
    return written(reported(path, each=len(EVIL)))


EVIL_RECORD = {
    "versions": {"judgenet": EVIL[0]},
    "seed": 3,
    "source": {"files": [[EVIL[1], "00"]], "format": EVIL[3]},
}


def test_no_text_of_the_data_becomes_markup(evil: str) -> None:
    page = page_of(evil)
    assert page.wrong == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= OUR_TAGS
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    # They are all there to be read.
    for text in EVIL[:5]:
        assert re.sub(r"\s+", " ", f"because {text}") in page.words


def test_characters_that_html_cannot_hold_are_replaced(evil: str) -> None:
    data = evil.encode("utf-8")
    assert not set(data) & (set(range(0x09)) | {0x0B, 0x0C, *range(0x0E, 0x20), 0x7F})
    assert "lone � surrogate" in evil
    assert "null � bell � escape �[31m del �" in evil
    # Separators are letters like others: nothing is a script that they could end.
    assert "line\u2028separator\u2029and" in evil


def test_nothing_is_asked_of_the_network(evil: str) -> None:
    page = page_of(evil)
    fetching = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background", "xlink:href", "ping"}
    assert not [(tag, a) for tag, attributes in page.tags for a in attributes if a in fetching]
    addresses = re.findall(r"url\(([^)]*)\)", page.style)
    assert len(addresses) == 3
    assert all(address.startswith("data:font/woff2;base64,") for address in addresses)
    assert "@import" not in page.style
    assert not [tag for tag, _ in page.tags if tag in ("script", "iframe", "object", "embed", "link", "img", "base")]


def test_the_policy_allows_its_own_style_alone(evil: str) -> None:
    page = page_of(evil)
    (policy,) = [
        a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "font-src": "data:",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # The policy holds for what comes after it.
    names = [tag for tag, _ in page.tags]
    assert names.index("style") > names.index("meta") + 1


def test_the_encoding_is_named_first(evil: str) -> None:
    assert re.match(r'\s*<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">', evil)


def test_light_dark_and_paper(evil: str) -> None:
    style = page_of(evil).style
    assert "--accent:#5746C6" in style.split("@media")[0]
    dark = style[style.index("@media screen and (prefers-color-scheme:dark)") :]
    assert "--accent:#A598FF" in dark.split("@media")[1]
    assert "@page{size:A4" in style
    # Every colour of a chart is one of the page.
    used = set(re.findall(r"var\(--(\w+)\)", evil))
    assert used <= set(re.findall(r"--(\w+):#", style))


def test_figures_stand_with_how_many_they_rest_on(tmp_path: Path) -> None:
    pairs = labelled_pairs(40)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(3, 2))
    found = reported(path)
    words = page_of(written(found)).words
    used, total = found.headline.used
    accuracy, interval = found.headline.agreement.accuracy, found.headline.intervals.accuracy
    assert accuracy is not None
    assert interval is not None
    assert f"{100 * accuracy:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]" in words
    for figures in found.aggregations.values():
        assert figures.agreement.accuracy is not None
        assert f"{100 * figures.agreement.accuracy:.1f}" in words
    assert words.count(f"{used} of {total}") >= 5
    assert found.data.hash in words
    assert found.about.prompts_digest in words
    assert "a bootstrap over pairs (200 resamples, seed 0)" in words
    for section in ("What was run", "Agreement with people", "Where they differ", "By task", "By neuron", "Method"):
        assert section in words


def test_cut_texts_say_how_much(tmp_path: Path) -> None:
    pairs = [Pair("p0", "q", "one " * 900, "two", human="b")]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (9, 1), fixed_network(1))
    found = reported(path)
    shown = len(found.studies[0].response_a.text)
    assert f"Cut here: {shown:,} of 3,600 characters are shown." in page_of(written(found)).words


SCRIPTS = {
    "日本語": "なぜ空は青いのですか。光が散乱するからです。",
    "العربية": "لماذا السماء زرقاء؟ لأن الضوء يتشتت.",
    "עברית": "למה השמיים כחולים",
    "हिन्दी": "आकाश नीला क्यों है",
    "ไทย": "ทำไมท้องฟ้าจึงเป็นสีฟ้า",
    "emoji 👩‍🔬": "family 👨‍👩‍👧‍👦 flag 🏳️‍🌈",
}


def test_other_scripts(tmp_path: Path) -> None:
    pairs = [Pair(f"{name}-1", text, text, name, task=name, human="b") for name, text in SCRIPTS.items()]
    path = tmp_path / "run.judgenet.db"
    names = list(SCRIPTS)
    record(
        path,
        pairs,
        lambda site: (9, 1),
        network(2, 1, settings=harness.SETTINGS),
        evidence=lambda site: list(SCRIPTS.values())[site.pair],
        roles=lambda pair: [names[pair], f"{names[pair]} 2"],
    )
    text = written(reported(path, each=6))
    page = page_of(text)
    assert page.wrong == []
    for name, said in SCRIPTS.items():
        assert said in text
        assert name in page.words
    # Each text of the data takes its own direction.
    assert '<div class="given" dir="auto">لماذا' in text
    assert "<bdi>العربية-1</bdi>" in text


def test_a_run_without_labels_shows_a_hollow_rate(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two") for i in range(6)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (8, 2) if site.pair < 2 else (2, 8), fixed_network(2))
    text = written(reported(path))
    page = page_of(text)
    assert 'class="headline num hollow"' in text
    assert "What does the network say of 6 pairs?" in page.words
    assert "66.7 %" in page.words
    assert "how often the network is right is unknown" in page.words
    assert "Agreement with people" not in page.words


def test_a_run_that_judged_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    harness.run(path, harness.start(fixed_network(2), labelled_pairs(3), limits=Limits(max_calls=0)))
    page = page_of(written(reported(path)))
    assert "No pair has a verdict yet" in page.words
    assert "The run stopped at its limit: 0 of 3 pairs are judged." in page.words
    assert "3 of 3 pairs are not judged yet" in page.words
    assert "None" not in page.words
    assert "nan" not in page.words.lower().split()


def test_a_stopped_run_says_so_before_any_figure(tmp_path: Path) -> None:
    pairs = labelled_pairs(10)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(2), limits=Limits(max_calls=18))
    found = reported(path)
    words = page_of(written(found)).words
    told = f"The run stopped at its limit: {found.data.finished} of 10 pairs are judged."
    assert told in words
    assert words.index(told) < words.index("95 % interval")


def test_few_pairs_and_a_layer_that_changes_nothing(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", human=("a", "b", "a")[i % 3]) for i in range(5)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (9, 1), fixed_network(2, 2))
    words = page_of(written(reported(path))).words
    assert "With 5 pairs that says little." in words
    assert "On these 5 pairs the network says A 5, tie 0, B 0; people say A 3, tie 0, B 2." in words
    assert "Nothing overturned: the same verdict on all 5 pairs that have both." in words
    assert "The verdict is the same in both orders on all 5 pairs." in words


def test_dense_and_deep_networks(tmp_path: Path) -> None:
    pairs = labelled_pairs(3)
    say, _ = random_say(pairs)
    roles = tuple(Role(f"Role {i}") for i in range(30))
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(30, 1, 1, roles=roles))
    page = page_of(written(reported(path)))
    assert page.wrong == []
    assert "Each dot is a neuron." in page.words
    assert "30 neurons" in page.words


def test_evidence_that_was_not_asked_for(tmp_path: Path) -> None:
    pairs = [Pair("p0", "q", "one", "two", human="b")]
    path = tmp_path / "run.judgenet.db"

    def nothing(site: CallSite) -> str:
        return ""

    record(path, pairs, lambda site: (9, 1), fixed_network(1, evidence=False), evidence=nothing)
    page = page_of(written(reported(path)))
    assert "No evidence was asked for." in page.words
    assert "gave scores without evidence" in page.words
