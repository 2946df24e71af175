from __future__ import annotations

from datetime import date, datetime

import pytest

from judgenet.ui import words


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
    assert words.short(number) == text


def test_ranges_name_their_unit_once() -> None:
    assert words.span(258_000, 764_000) == "258 – 764 k"
    assert words.span(300, 300) == "300"
    assert words.span(900_000, 2_100_000) == "900 k – 2.1 M"
    assert words.span(1200, 3400, "whole") == "1,200 – 3,400"


@pytest.mark.parametrize(
    ("value", "text"), [(0, "$0.00"), (22.64, "$22.64"), (0.0013, "$0.0013"), (1250, "$1,250"), (0.5, "$0.50")]
)
def test_money(value: float, text: str) -> None:
    assert words.money(value) == text


def test_ranges_of_money() -> None:
    assert words.money_span(12.2, 13.9) == "$12 – 14"
    assert words.money_span(0.4, 0.9) == "$0.40 – 0.90"
    assert words.money_span(3, 3, "CHF") == "3.00 CHF"


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (59.6, "1 min"), (840, "14 min"), (7500, "2 h 5 min"), (400_000, "5 days")]
)
def test_time_left(seconds: float, text: str) -> None:
    assert words.time_left(seconds) == text


def test_days_near_and_far() -> None:
    def of(year: int, month: int, day: int) -> str:
        return words.day(datetime(year, month, day, 12).astimezone().timestamp(), date(2026, 11, 29))

    assert [of(2026, 11, 29), of(2026, 11, 28), of(2026, 11, 27)] == ["today", "yesterday", "Friday"]
    assert [of(2026, 11, 12), of(2025, 3, 3)] == ["12 Nov", "3 Mar 2025"]


def test_lengths_count_words_or_characters() -> None:
    assert words.length_words("two words") == "2 words"
    assert words.length_words("なぜ空は青いのですか") == "10 characters"


def test_rules_as_in_the_paper() -> None:
    assert [words.rule_words(rule) for rule in ("c1", "c2_l1", "c2_all", "chair")] == [
        "c1*",
        "c2*(l1)",
        "c2*(all)",
        "chair",
    ]
