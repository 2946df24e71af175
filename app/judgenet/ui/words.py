"""Figures as people read them: counts, ranges, money, time, days."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from judgenet.core.lengths import length_of
from judgenet.ui import clock

MINUS: Final = "\u2212"
_SIGNS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "CNY": "¥", "JPY": "¥"}
_UNITS: Final = ((0.9995e9, 1e9, "G"), (0.9995e6, 1e6, "M"), (1e4, 1e3, "k"))
"""From where on a unit is used, its size, its letter."""


def count(number: float, noun: str, nouns: str | None = None) -> str:
    """A number with its noun: "1 pair", "1,200 pairs"."""
    return f"{number:,.0f} {noun if number == 1 else nouns or noun + 's'}"


def short(number: float) -> str:
    """A large number in three figures: "9,600", "39 M"; below 10,000 all of it."""
    for begins, size, unit in _UNITS:
        if number >= begins:
            scaled = number / size
            text = f"{scaled:,.0f}" if scaled >= 10 else f"{scaled:.1f}".removesuffix(".0")
            return f"{text} {unit}"
    return f"{number:,.0f}"


def span(low: float, high: float, form: str = "short") -> str:
    """A range with a thin dash, one number where both ends read the same. ``form`` is ``short`` or ``whole``."""
    one, other = (short(low), short(high)) if form == "short" else (f"{low:,.0f}", f"{high:,.0f}")
    if one == other:
        return one
    (one_number, _, one_unit), (_, _, unit) = one.partition(" "), other.partition(" ")
    return f"{one_number if one_unit == unit else one} – {other}"


def money(value: float, currency: str = "USD") -> str:
    """A price: "$22.64", "$0.0013", "$1,250"."""
    sign = _SIGNS.get(currency, "")
    if value >= 1000:
        text = f"{value:,.0f}"
    elif value >= 0.1 or value == 0:
        text = f"{value:.2f}"
    else:
        text = f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"
    return f"{sign}{text}" if sign else f"{text} {currency}"


def money_span(low: float, high: float, currency: str = "USD") -> str:
    """A range of prices: "$12 – 14"; without cents from 10 on."""

    def text(value: float) -> str:
        return f"{value:,.0f}" if high >= 10 else money(value, currency).removeprefix(sign).removesuffix(f" {currency}")

    sign = _SIGNS.get(currency, "")
    one, other = text(low), text(high)
    joined = one if one == other else f"{one} – {other}"
    return f"{sign}{joined}" if sign else f"{joined} {currency}"


def time_left(seconds: float) -> str:
    """A duration without more than is known: "45 s", "16 min", "2 h 5 min", "3 days"."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{round(hours + minutes / 60)} h"
    return f"{round(minutes / 1440)} days"


def day(at: float, today: date | None = None) -> str:
    """A day near today: "today", "yesterday", "Friday", "12 Nov", "3 Mar 2024"."""
    then = datetime.fromtimestamp(at).astimezone().date()
    today = today or clock.today()
    ago = (today - then).days
    if ago <= 1:
        return "today" if ago <= 0 else "yesterday"
    if ago < 7:
        return then.strftime("%A")
    text = f"{then.day} {then.strftime('%b')}"
    return text if then.year == today.year else f"{text} {then.year}"


def percent(share: float) -> str:
    """A share as a whole per cent."""
    return f"{100 * share:.0f} %"


def rule_words(rule: str) -> str:
    """The name of an aggregation as in the paper: "c1*", "c2*(l1)", "c2*(all)", "chair"."""
    if rule.startswith("c2_"):
        return f"c2*({rule.removeprefix('c2_')})"
    return "c1*" if rule == "c1" else rule


def rule_name(rule: str) -> str:
    """What an aggregation is in plain words: "average", "all layers", "layer 1"; empty where its own name says it."""
    if rule == "c2_all":
        return "all layers"
    if rule.startswith("c2_l"):
        return f"layer {rule.removeprefix('c2_l')}"
    return "average" if rule == "c1" else ""


def rule_title(rule: str) -> str:
    """An aggregation with its plain name first: "Vote of all layers, c2*(all)", "Average, c1*", "Chair"."""
    name = rule_name(rule)
    if not name:
        return rule.capitalize()
    return f"{'Average' if rule == 'c1' else f'Vote of {name}'}, {rule_words(rule)}"


def length_words(text: str) -> str:
    """How long a text is: "102 words", or characters where words are not set apart by spaces: "320 characters"."""
    number, unit = length_of(text)
    return count(number, unit.removesuffix("s"))
