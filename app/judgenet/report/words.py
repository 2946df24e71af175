"""Numbers, times and texts as a report writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from judgenet.core.evaluation import REASON_WORDS, Reason
from judgenet.core.pairs import Verdict
from judgenet.stats.intervals import Interval

LETTERS: dict[Verdict, str] = {"a": "A", "b": "B", "tie": "="}
SPOKEN: dict[Verdict, str] = {"a": "A", "b": "B", "tie": "a tie"}

# strftime follows the locale that a window may have set.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def clean(text: str) -> str:
    """The text as UTF-8, HTML and XML can hold it: control characters and lone surrogates become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)


def percent(share: float | None, *, unit: bool = True) -> str:
    """A share in per cent with one decimal: ``69.5 %``; ``n/a`` where there is none."""
    if share is None:
        return "n/a"
    return f"{100 * share:.1f} %" if unit else f"{100 * share:.1f}"


def percent_interval(interval: Interval | None) -> str:
    """``[62.8, 75.5]`` in per cent, empty where there is none."""
    return "" if interval is None else f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def ratio(value: float | None) -> str:
    """A coefficient with two decimals and a true minus."""
    return "n/a" if value is None else minus(f"{value:.2f}")


def ratio_interval(interval: Interval | None) -> str:
    """``[0.57, 0.71]``, empty where there is none or it has no width."""
    if interval is None or interval.low == interval.high:
        # A constant answer has a kappa of 0 in every resample.
        return ""
    low, high = minus(f"{interval.low:.2f}"), minus(f"{interval.high:.2f}")
    return f"[{low}, {high}]"


def minus(number: str) -> str:
    """A number with a true minus; minus zero is zero."""
    if re.fullmatch(r"-0(\.0+)?", number):
        number = number[1:]
    return number.replace("-", "−")


def points(share: float) -> str:
    """A difference of shares in points: ``+2.3 points``."""
    figure = f"{100 * share:+.1f}"
    return ("0.0" if float(figure) == 0 else minus(figure)) + " points"


def points_interval(interval: Interval | None) -> str:
    """``[−2.3, 4.1]`` in points, empty where there is none."""
    if interval is None:
        return ""
    low, high = (minus(f"{100 * end:.1f}") for end in interval)
    return f"[{low}, {high}]"


def of(count: int, total: int) -> str:
    """``200 of 1,200``."""
    return f"{count:,} of {total:,}"


def plural(count: int, one: str, many: str = "") -> str:
    """``1 pair``, ``2 pairs``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def score(value: float | None) -> str:
    """A score without needless decimals, an en dash where there is none."""
    if value is None:
        return "–"
    return minus(f"{value:.0f}" if abs(value - round(value)) < 0.005 else f"{value:.1f}")


def money(price: float, unpriced: int) -> str:
    """What was paid; what is unknown is said."""
    known = f"${price:,.2f}" if price >= 1 or price == 0 else f"${price:.4f}"
    if not unpriced:
        return known
    if not price:
        return "price unknown"
    return f"{known}, and {plural(unpriced, 'call')} of unknown price"


def p_value(p: float | None) -> str:
    """``p = 0.56``, ``p < 0.001``."""
    if p is None:
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def day(seconds: float) -> str:
    """``29 November 2026``, in UTC."""
    found = datetime.fromtimestamp(seconds, UTC)
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}"


def moment(seconds: float) -> str:
    """``29 November 2026, 21:05 UTC``."""
    return f"{day(seconds)}, {datetime.fromtimestamp(seconds, UTC):%H:%M} UTC"


def digest(value: str) -> str:
    """The beginning of a digest in groups of four: ``9c41 e07b``."""
    return f"{value[:4]} {value[4:8]}" if len(value) >= 8 else value


def reason_words(reason: str) -> str:
    """A reason as people read it."""
    try:
        return REASON_WORDS[Reason(reason)]
    except ValueError:
        return reason
