"""What a learned aggregation gains, in words."""

from __future__ import annotations

from collections.abc import Sequence

from judgenet.core.wording import p_value, plural, points, points_interval
from judgenet.figures.learned import WAY_TITLES, LessOther, Way


def gain_words(way: Way, less: Sequence[LessOther], others: Sequence[str]) -> str:
    """What a way gains over ``others``, in a sentence: with its interval, p and the number of pairs that both judge;
    empty without one."""
    parts = []
    for gain in less:
        accuracy = gain.accuracy
        if gain.other not in others or accuracy.difference is None:
            continue
        within = points_interval(accuracy.interval)
        parts.append(
            f"{points(accuracy.difference)} {within} compared with {gain.title[:1].lower()}{gain.title[1:]} "
            f"({p_value(gain.p)}, {plural(accuracy.n, 'pair')})".replace("  ", " ")
        )
    return f"{WAY_TITLES[way]}: {'; '.join(parts)}." if parts else ""
