"""Lengths, numbers, money, durations, days and aggregations are written one way everywhere."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

import pytest

import judgenet
from judgenet.core import wording

THAI = "ทำไมท้องฟ้าจึงเป็นสีฟ้า"  # "why is the sky blue": 16 characters as readers see them
KOREAN = "하늘은 왜 파란색일까요"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", "0 words"),
        ("Word.", "1 word"),
        ("Ice floats on water.", "4 words"),
        ("a\n\n b\tc", "3 words"),
        ("Лёд плавает", "2 words"),
        ("دقة المعلومات مهمة", "3 words"),
        ("हिन्दी में लिखा", "3 words"),
        (KOREAN, "3 words"),
        ("한국어는 띄어 쓴다", "3 words"),
        ("なぜ空は青いのですか。", "11 characters"),
        ("天空为什么是蓝色的？ 请解释", "13 characters"),
        (THAI, "16 characters"),
        ("ນ້ຳ", "1 character"),
        ("မြန်မာစာ", "6 characters"),
        ("ភាសាខ្មែរ", "4 characters"),
        ("བོད་སྐད", "5 characters"),
        ("天空天空天空👩‍👩‍👧🇹🇭👍🏽", "9 characters"),
        ("が", "1 character"),
        ("The word 天空 means sky in Chinese", "7 words"),
        ("word " * 1500, "1,500 words"),
    ],
)
def test_lengths_are_counted_as_readers_of_the_script_count(text: str, length: str) -> None:
    assert wording.length_words(text) == length


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        ("one two", "one two three", 0.5),
        (KOREAN, f"{KOREAN} {KOREAN}", 1.0),
        (THAI, THAI * 10, 9.0),
        ("空は青い", "空は青い空は青い", 1.0),
        ("", "words", None),
        # A text in words and one in characters are compared by characters: 4 against 8.
        ("blue sky", "空は青い", 4 / 7 - 1),
    ],
)
def test_one_text_is_longer_than_another(first: str, second: str, share: float | None) -> None:
    assert wording.longer_share(first, second) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (9600, "9,600"),
        (16_800, "17 k"),
        (1_250_000, "1.2 M"),
        (39_000_000, "39 M"),
        (3e9, "3 G"),
    ],
)
def test_large_numbers_in_short(number: float, text: str) -> None:
    assert wording.short(number) == text


def test_ranges_name_their_unit_once() -> None:
    assert wording.span(258_000, 764_000) == "258 to 764 k"
    assert wording.span(300, 300) == "300"
    assert wording.span(900_000, 2_100_000) == "900 k to 2.1 M"
    assert wording.span(1200, 3400, "whole") == "1,200 to 3,400"
    assert wording.whole_range(1200, 3400) == "1,200 to 3,400"


def test_numbers_with_their_nouns() -> None:
    assert [wording.plural(n, "pair") for n in (0, 1, 1200)] == ["0 pairs", "1 pair", "1,200 pairs"]
    assert wording.plural(2, "reply", "replies") == "2 replies"
    assert wording.of(200, 1200) == "200 of 1,200"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7e-05, "$0.00007"),
        (-0.05, "\u2212$0.05"),
        (-1250, "\u2212$1,250"),
        (1.23e-06, "$0.0000012"),
        (0, "$0.00"),
        (22.64, "$22.64"),
        (0.05, "$0.05"),
        (0.0013, "$0.0013"),
        (1250, "$1,250"),
        (0.5, "$0.50"),
    ],
)
def test_money(value: float, text: str) -> None:
    assert wording.money(value) == text


def test_ranges_of_money() -> None:
    assert wording.money_span(12.2, 13.9) == "$12 to 14"
    assert wording.money_span(0.4, 0.9) == "$0.40 to 0.90"
    assert wording.money_span(3, 3, "CHF") == "3.00 CHF"


def test_an_unknown_price_is_never_nothing() -> None:
    assert wording.spent_text(0.05, 0) == "$0.05"
    assert wording.spent_text(0, 3) == "price unknown"
    assert wording.spent_text(0.05, 1) == "$0.05, and 1 call of unknown price"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (4.21, "4.2 s"),
        (9.96, "10 s"),
        (45, "45 s"),
        (59.6, "1 min"),
        (840, "14 min"),
        (3599, "1 h"),
        (7500, "2 h 5 min"),
        (400_000, "5 days"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


def test_days_near_and_far() -> None:
    def of(year: int, month: int, day: int) -> str:
        return wording.near_day(datetime(year, month, day, 12).astimezone().timestamp(), date(2026, 11, 29))

    assert [of(2026, 11, 29), of(2026, 11, 28), of(2026, 11, 27)] == ["today", "yesterday", "Friday"]
    assert [of(2026, 11, 12), of(2025, 3, 3)] == ["12 Nov", "3 Mar 2025"]


def test_aggregations_as_in_the_paper() -> None:
    names = ("c1", "c2_l1", "c2_all", "chair")
    assert [wording.rule_words(name) for name in names] == ["c1*", "c2*(l1)", "c2*(all)", "chair"]
    assert [wording.aggregation_title(name) for name in names] == ["c1*", "c2*(l1)", "c2*(all)", "Chair"]
    assert wording.rule_meaning("c2_l2") == "the vote of layer 2"
    soft = ("soft_l1", "soft_all", "soft_entropy")
    assert [wording.rule_words(name) for name in soft] == ["soft (l1)", "soft (all)", "soft (entropy)"]
    assert wording.rule_meaning("soft_l2") == "the summed probabilities of layer 2"
    assert wording.rule_title("soft_all") == "Soft vote of all layers, soft (all)"


def test_no_other_module_writes_them_again() -> None:
    root = Path(judgenet.__file__).parent
    again = re.compile(
        r"^\s*def _?(plural|money|price_words|duration|time_left|length_words|minutes|near_day|whole_percent)\(", re.M
    )
    others = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if path.name != "wording.py" and again.search(path.read_text(encoding="utf-8"))
    ]
    # The theme's is how long a motion takes.
    assert others == ["ui/theme.py"]
