"""How lengths, numbers, money, durations, days and aggregations are written: the same on every page, in every report
and on the terminal."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Final, Literal, NamedTuple

from judgenet.core.evaluation import REASON_WORDS, Reason
from judgenet.core.pairs import Verdict
from judgenet.core.pictures import PairPicture, pictures_in, spoken_text

MINUS: Final = "\u2212"
LETTERS: Final[dict[Verdict, str]] = {"a": "A", "b": "B", "tie": "="}
SPOKEN: Final[dict[Verdict, str]] = {"a": "A", "b": "B", "tie": "a tie"}

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def clean(text: str) -> str:
    """The text as UTF-8, HTML and XML can hold it: control characters and lone surrogates become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)


# Lengths of texts

Unit = Literal["words", "characters"]

# Thai, Lao, Tibetan, Burmese, Khmer, New Tai Lue, Tai Tham, Japanese, Chinese, Tai Viet. Korean has spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1980-\u19df\u1a20-\u1aaf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uaa80-\uaadf\uf900-\ufaff\U00020000-\U0003134f]"
)
_SAMPLE = 4000
# Vowels of Thai and Lao, joiners, skin tones, tags, and the later letters of a Korean syllable in parts.
_JOINED = re.compile("[\u0e33\u0eb3\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7ff]")
# Marks of Burmese and Tai that stand by themselves.
_APART = re.compile(
    "[\u102b\u102c\u1038\u1062-\u1064\u1067-\u106d\u1083\u1087-\u108c\u108f\u109a-\u109c\u1a61\u1a63\u1a64\uaa7b\uaa7d]"
)
# The zero-width joiner, and the signs that put a Khmer or Burmese letter under the one before.
_JOINERS = "\u200d\u17d2\u1039"
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class Length(NamedTuple):
    """A length: words, or characters as readers see them where the script writes no spaces between words."""

    number: int
    unit: Unit

    def __str__(self) -> str:
        """``102 words``, ``1 character``."""
        return plural(self.number, self.unit.removesuffix("s"))


def length_of(text: str) -> Length:
    """Words between spaces; characters (spaces left out) where at least a third of the text is in a script that
    writes no spaces between words: Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer."""
    sample = text[:_SAMPLE]
    if sample.isascii() or 3 * len(_UNSPACED.findall(sample)) < len("".join(sample.split())):
        return Length(len(text.split()), "words")
    return Length(_characters(text), "characters")


def longer_share(first: str, second: str) -> float | None:
    """By how much the second text is longer than the first, as a share of the first (0.08: 8 % longer).

    Words are compared where both are counted in words, else characters. ``None`` where the first is empty.
    """
    before, after = length_of(first), length_of(second)
    if before.unit != after.unit:
        before, after = (Length(_characters(text), "characters") for text in (first, second))
    return after.number / before.number - 1 if before.number else None


def length_words(text: str) -> str:
    """How long a text is: ``102 words``, ``320 characters``."""
    return str(length_of(text))


def text_size_words(text: str, pictures: Iterable[PairPicture]) -> str:
    """How long a text is and how many pictures it has, for people: ``12 words, 1 picture``."""
    seen = len(pictures_in(text, pictures := tuple(pictures)))
    spoken = spoken_text(text, pictures)
    parts = [length_words(spoken)] if spoken.strip() or not seen else []
    return ", ".join([*parts, plural(seen, "picture")] if seen else parts)


def _characters(text: str) -> int:
    """Characters as readers see them (grapheme clusters, Unicode's annex 29 in short), without spaces."""
    characters = _FLAG.sub("\u25a1", "".join(text.split()))
    inner = {each for each in set(characters) if _continues(each)}
    if not inner:
        return len(characters)
    count = 0
    joined = False
    for character in characters:
        count += not joined and character not in inner
        joined = character in _JOINERS
    return count


def _continues(character: str) -> bool:
    """Whether a character is never one of its own, but part of the one before it."""
    mark = unicodedata.category(character).startswith("M") and not _APART.match(character)
    return mark or _JOINED.match(character) is not None


def capitalized(text: str) -> str:
    """A text with a capital first letter; all others stay as they are."""
    return text[:1].upper() + text[1:]


# Numbers


def plural(number: float, singular: str, many: str = "") -> str:
    """A number with its noun: ``1 pair``, ``1,200 pairs``."""
    return f"{number:,.0f} {singular if number == 1 else many or singular + 's'}"


def of(count: int, total: int) -> str:
    """``200 of 1,200``."""
    return f"{count:,} of {total:,}"


_SIZES: Final = ((0.9995e9, 1e9, "G"), (0.9995e6, 1e6, "M"), (1e4, 1e3, "k"))
"""From where on a unit is used, its size, its letter."""


def short(number: float) -> str:
    """A large number in three figures: ``9,600``, ``39 M``; below 10,000 all of it."""
    for begins, size, unit in _SIZES:
        if number >= begins:
            scaled = number / size
            text = f"{scaled:,.0f}" if scaled >= 10 else f"{scaled:.1f}".removesuffix(".0")
            return f"{text} {unit}"
    return f"{number:,.0f}"


def span(low: float, high: float, form: Literal["short", "whole"] = "short") -> str:
    """A range of numbers: ``1.2 to 1.4 k``; one where both ends read the same."""
    low_text, high_text = (short(low), short(high)) if form == "short" else (f"{low:,.0f}", f"{high:,.0f}")
    if low_text == high_text:
        return low_text
    (one_number, _, one_unit), (_, _, unit) = low_text.partition(" "), high_text.partition(" ")
    return f"{one_number if one_unit == unit else low_text} to {high_text}"


def whole_range(low: int, high: int) -> str:
    """A range in a sentence: ``1,200 to 1,400``; one number where both are equal."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def whole_percent(share: float) -> str:
    """A share as a whole per cent: ``69 %``."""
    return f"{100 * share:.0f} %"


def percent(share: float | None, *, unit: bool = True) -> str:
    """A share in per cent with one decimal: ``69.5 %``; ``n/a`` where there is none."""
    if share is None:
        return "n/a"
    return f"{100 * share:.1f} %" if unit else f"{100 * share:.1f}"


def percent_interval(interval: tuple[float, float] | None) -> str:
    """``[62.8, 75.5]`` in per cent, empty where there is none."""
    return "" if interval is None else f"[{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def ratio(value: float | None) -> str:
    """A coefficient with two decimals and a true minus."""
    return "n/a" if value is None else minus(f"{value:.2f}")


def ratio_interval(interval: tuple[float, float] | None) -> str:
    """``[0.57, 0.71]``, empty where there is none or it has no width."""
    if interval is None or interval[0] == interval[1]:
        # A constant answer has a kappa of 0 in every resample.
        return ""
    low, high = (minus(f"{end:.2f}") for end in interval)
    return f"[{low}, {high}]"


def percent_with_interval(share: float | None, interval: tuple[float, float] | None) -> str:
    """``69.5 [62.8, 75.5]`` in per cent; ``n/a`` without a share."""
    return f"{percent(share, unit=False)} {percent_interval(interval)}".rstrip()


def ratio_with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    """``0.62 [0.57, 0.71]``; ``n/a`` without a value."""
    return f"{ratio(value)} {ratio_interval(interval)}".rstrip()


def minus(number: str) -> str:
    """A number with a true minus; minus zero is zero."""
    if re.fullmatch(r"-0(\.0+)?", number):
        number = number[1:]
    return number.replace("-", MINUS)


def points(share: float) -> str:
    """A difference of shares in points: ``+2.3 points``."""
    figure = f"{100 * share:+.1f}"
    return ("0.0" if float(figure) == 0 else minus(figure)) + " points"


def points_interval(interval: tuple[float, float] | None) -> str:
    """``[−2.3, 4.1]`` in points, empty where there is none."""
    if interval is None:
        return ""
    low, high = (minus(f"{100 * end:.1f}") for end in interval)
    return f"[{low}, {high}]"


def p_value(p: float | None) -> str:
    """``p = 0.56``, ``p < 0.001``."""
    if p is None:
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def p_figure(p: float | None) -> str:
    """The number of :func:`p_value` alone, for a column of p: ``0.56``, ``< 0.001``; ``n/a`` where there is none."""
    return "n/a" if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def score_text(score: float | None) -> str:
    """A score without needless decimals; an en dash where there is none."""
    if score is None:
        return "–"
    return minus(f"{score:.0f}" if abs(score - round(score)) < 0.05 else f"{score:.1f}")


# Money

_SIGNS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "CNY": "¥", "JPY": "¥"}


def money(value: float, currency: str = "USD") -> str:
    """A price: ``$22.64``, ``$0.0013``, ``$0.000071``, ``$1,250``."""
    sign, amount = _SIGNS.get(currency, ""), abs(value)
    if amount >= 1000:
        text = f"{amount:,.0f}"
    elif amount >= 0.1 or not amount > 0:
        text = f"{amount:.2f}"
    else:
        # Two digits that count, and never 7e-05.
        text = f"{amount:.{1 - math.floor(math.log10(amount))}f}".rstrip("0")
    text = f"{sign}{text}" if sign else f"{text} {currency}"
    return f"{MINUS}{text}" if value < 0 else text


def money_span(low: float, high: float, currency: str = "USD") -> str:
    """A range of prices: ``$12 to 14``; without cents from 10 on."""

    def text(value: float) -> str:
        return f"{value:,.0f}" if high >= 10 else money(value, currency).removeprefix(sign).removesuffix(f" {currency}")

    sign = _SIGNS.get(currency, "")
    low_text, high_text = text(low), text(high)
    joined = low_text if low_text == high_text else f"{low_text} to {high_text}"
    return f"{sign}{joined}" if sign else f"{joined} {currency}"


def spent_text(price: float, unpriced: int, currency: str = "USD") -> str:
    """What was paid; ``unpriced`` calls have an unknown price, which is said."""
    if not unpriced:
        return money(price, currency)
    if not price:
        return "price unknown"
    return f"{money(price, currency)}, and {plural(unpriced, 'call')} of unknown price"


# Durations and days


def duration(seconds: float) -> str:
    """A duration without more than matters: ``4.2 s``, ``45 s``, ``16 min``, ``2 h 5 min``, ``3 days``."""
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{round(hours + minutes / 60)} h"
    return f"{round(minutes / 1440)} days"


def duration_range(low: float, high: float) -> str:
    """A range of durations in a sentence: ``16 min to 2 h``; one where both read the same."""
    return duration(high) if duration(low) == duration(high) else f"{duration(low)} to {duration(high)}"


# strftime follows the locale that a window may have set.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def day(seconds: float) -> str:
    """``29 November 2026``, in UTC."""
    date = datetime.fromtimestamp(seconds, UTC)
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def moment(seconds: float) -> str:
    """``29 November 2026, 21:05 UTC``."""
    return f"{day(seconds)}, {datetime.fromtimestamp(seconds, UTC):%H:%M} UTC"


def near_day(seconds: float, today: date) -> str:
    """A day near today, in local time: ``today``, ``yesterday``, ``Friday``, ``12 Nov``, ``3 Mar 2024``."""
    then = datetime.fromtimestamp(seconds).astimezone().date()
    ago = (today - then).days
    if ago <= 1:
        return "today" if ago <= 0 else "yesterday"
    if ago < 7:
        return _WEEKDAYS[then.weekday()]
    text = f"{then.day} {_MONTHS[then.month - 1][:3]}"
    return text if then.year == today.year else f"{text} {then.year}"


# Aggregations, digests and reasons


def aggregation_title(name: str) -> str:
    """An aggregation at the head of a row: ``c1*``, ``c2*(l1)``, ``c2*(all)``, ``Chair``, ``Learned``."""
    words = rule_words(name)
    return words if words != name else name.capitalize()


def rule_words(rule: str) -> str:
    """The name of an aggregation as in the paper: ``c1*``, ``c2*(l1)``, ``c2*(all)``, ``chair``."""
    if rule.startswith("c2_"):
        return f"c2*({rule.removeprefix('c2_')})"
    if rule.startswith("soft_"):
        return f"soft ({rule.removeprefix('soft_')})"
    return "c1*" if rule == "c1" else rule


def rule_name(rule: str) -> str:
    """What an aggregation is in plain words: ``average``, ``all layers``, ``layer 1``; empty where its own name says
    it."""
    if rule == "c2_all":
        return "all layers"
    if rule.startswith("c2_l"):
        return f"layer {rule.removeprefix('c2_l')}"
    if rule.startswith("soft_"):
        return "all layers by entropy" if rule == "soft_entropy" else rule_name(f"c2_{rule.removeprefix('soft_')}")
    return "average" if rule == "c1" else ""


def rule_title(rule: str) -> str:
    """An aggregation with its plain name first: ``Vote of all layers, c2*(all)``, ``Average, c1*``, ``Chair``."""
    name = rule_name(rule)
    if not name:
        return rule.capitalize()
    vote = "Soft vote" if rule.startswith("soft_") else "Vote"
    return f"{'Average' if rule == 'c1' else f'{vote} of {name}'}, {rule_words(rule)}"


def rule_meaning(rule: str) -> str:
    """What an aggregation does, within a sentence: ``the vote of all neurons``."""
    if rule == "c1":
        return "the sign of the scores averaged over all calls"
    if rule == "c2_all":
        return "the vote of all neurons"
    if rule.startswith("soft_"):
        return f"the summed probabilities of {rule_name(rule)}"
    if rule == "accepted":
        return "where it is sure enough to be accepted without people"
    return f"the vote of layer {rule.removeprefix('c2_l')}" if rule.startswith("c2_l") else f"the {rule}"


def digest(value: str) -> str:
    """The beginning of a digest in groups of four: ``9c41 e07b``."""
    return f"{value[:4]} {value[4:8]}" if len(value) >= 8 else value


def reason_words(reason: str) -> str:
    """A reason as people read it."""
    try:
        return REASON_WORDS[Reason(reason)]
    except ValueError:
        return reason
