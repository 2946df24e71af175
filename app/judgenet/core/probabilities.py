"""From the probabilities of a reply's tokens to a distribution over the scale and over the verdicts.

The score of a response is the expected score over the scale, sum of i times p(i) (G-Eval: Liu et al., EMNLP 2023,
arXiv 2303.16634, equation 1), where p(i) is the probability that the judge writes the whole number i at the place
where its score stands, given everything that it wrote before. A number of several tokens is a sequence: p(10) is
p("1") times p("0" after "1"), and p(1) is p("1") times what is left. Probability that falls on no number of the scale,
or on a token that is not among the alternatives sent, is not known to be any score: the rest is renormalised, and
where less than :data:`LEAST_SEEN` falls on the scale the reply's own text is used instead.

The second score is read after the first was written, so that its distribution is conditional on the sampled first one.
The probabilities of "first is better", "tie" and "second is better" are made of the two distributions as if they were
independent. That is an approximation, because it is not known what the second score would be after another first one.
The difference of the expected scores needs no such assumption."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, fsum, isfinite, log
from typing import Any, Final, NamedTuple

from judgenet.core.evaluation import (
    SCALE,
    Choice,
    Evaluation,
    Reading,
    ScoreSource,
    Unscored,
    VerdictShares,
    choice_of,
)
from judgenet.core.pairs import Order

PROBABILITIES: Final = "probabilities"
"""The value of the setting ``scores`` that asks for token probabilities, and the source of scores made from them."""

SCORES: Final = "scores"
"""The name of that setting among a call's parameters."""

LEAST_SEEN: Final = 0.8
"""So much of the probability must fall on numbers of the scale: with 0.8 the part that was not seen can move an
expected score from 1 to 10 by at most 1.8 points."""

MOST_ALTERNATIVES: Final = 20
"""So many alternatives a token are asked for: the most that OpenAI, vLLM (by default) and Gemini send."""

_MOST_NUMBERS = 40
"""So many numbers of a reply are tried, from its end, to find the place of a score."""
_TOO_MUCH = 1.01
"""Probabilities of alternatives that add up to more than this are none."""

SCORE_SOURCE_WORDS: dict[ScoreSource, str] = {
    "probabilities": "expected score from token probabilities",
    "not_applied": "sampled text, as the endpoint gives no token probabilities",
    "not_sent": "sampled text, as the answer came without token probabilities",
    "not_found": "sampled text, as the tokens of the scores were not found in the answer",
    "not_seen": f"sampled text, as less than {100 * LEAST_SEEN:.0f} % of the probability was on the scale",
}
"""Where the scores of a call come from that was to be scored by probabilities."""


class TokenAlternatives(NamedTuple):
    """A token as sampled (UTF-8 bytes), the natural logarithm of its probability, and the alternatives at its place,
    which may hold it too."""

    text: bytes
    logprob: float
    alternatives: tuple[tuple[bytes, float], ...]


@dataclass(frozen=True, slots=True)
class NumberShares:
    """What is known of the number at a place: ``on_scale`` has the probability of each whole number of the scale, and
    ``unclear`` is that of beginnings of which it is not known which number they would have become."""

    on_scale: tuple[float, ...]
    unclear: float

    @property
    def seen(self) -> float:
        """The probability that falls on numbers of the scale."""
        return fsum(self.on_scale)


@dataclass(frozen=True, slots=True)
class LikelyScores:
    """The distributions of the two scores over the whole numbers of the scale, in the order in which the responses
    were shown, each of which adds up to 1; and how much of the probability was ``seen`` on the scale for each."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    seen: tuple[float, float]

    def evaluation(self, reading: Reading, order: Order) -> Evaluation:
        """What a reply says, with the expected scores in place of those of its text."""
        first, second = self.expected
        likely = replace(reading, first=first, second=second, choice=choice_of(first, second))
        said = Evaluation.from_reading(reading, order)
        return replace(
            Evaluation.from_reading(likely, order),
            shares=self.shares(order),
            scores_from="probabilities",
            sampled=None if said.score_a is None or said.score_b is None else (said.score_a, said.score_b),
        )

    @property
    def expected(self) -> tuple[float, float]:
        """The expected scores."""
        return expected_score(self.first), expected_score(self.second)

    def shares(self, order: Order) -> VerdictShares:
        """The probabilities of the verdicts on A and B, as if the two scores were independent."""
        higher, tie, lower = better_shares(self.first, self.second)
        return VerdictShares(higher, tie, lower) if order == "ab" else VerdictShares(lower, tie, higher)

    def written(self) -> str:
        """These distributions as JSON."""
        rounded = {name: [round(p, 9) for p in getattr(self, name)] for name in self.__slots__}
        return json.dumps(rounded, separators=(",", ":"))

    @classmethod
    def from_written(cls, text: str) -> LikelyScores:
        """What :meth:`written` wrote."""
        kept: dict[str, list[Any]] = json.loads(text)
        first, second, (first_seen, second_seen) = kept["first"], kept["second"], kept["seen"]
        return cls(tuple(first), tuple(second), (first_seen, second_seen))


def as_written(evaluation: Evaluation) -> Evaluation:
    """An evaluation with the scores and the verdict of its text in place of expected ones."""
    if evaluation.sampled is None:
        return evaluation
    a, b = evaluation.sampled
    choice = choice_of(a, b)
    return replace(
        evaluation,
        verdict="a" if choice == "first" else "b" if choice == "second" else "tie",
        score_a=a,
        score_b=b,
    )


def is_written(kept: str | None) -> bool:
    """Whether what is kept of an answer are distributions, and not the reason why there are none."""
    return kept is not None and kept.startswith("{")


def known_source(kept: str | None) -> ScoreSource:
    """Why an answer that was to be scored by probabilities has none, from what is kept of it."""
    return next((source for source in SCORE_SOURCE_WORDS if source == kept and kept != PROBABILITIES), "not_sent")


def expected_score(shares: Sequence[float]) -> float:
    """The expected value of a distribution over the whole numbers of the scale."""
    low = int(SCALE[0])
    return fsum((low + place) * share for place, share in enumerate(shares))


def better_shares(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """The probabilities that the first of two independent scores is higher, that both are equal, and that the second
    is higher."""
    higher = fsum(p * fsum(second[:place]) for place, p in enumerate(first))
    lower = fsum(p * fsum(first[:place]) for place, p in enumerate(second))
    return higher, fsum(p * q for p, q in zip(first, second, strict=True)), lower


def sureness(shares: Sequence[float]) -> float:
    """How sure a distribution over A, tie and B is: 1 minus its entropy divided by that of three equal shares. 1 where
    all of it is on one verdict, 0 where the three are equal."""
    return max(0.0, 1.0 + fsum(p * log(p) for p in shares if p > 0) / log(3))


def likely_scores(
    text: str,
    tokens: Sequence[TokenAlternatives],
    reading: Reading,
    read: Callable[[str], Reading | Unscored],
) -> LikelyScores | ScoreSource:
    """The distributions of the two scores of a reply, or why there are none.

    ``reading`` is what the reply says and ``read`` reads it again with another number in the place of a score.
    """
    if not tokens:
        return "not_sent"
    places = score_places(text, reading, read)
    aligned = None if places is None else _aligned(text, tokens)
    if places is None or aligned is None:
        return "not_found"
    tokens, starts = aligned
    joins = joins_digits(tokens)
    distributions = []
    for place in places:
        at = len(text[:place].encode("utf-8", "surrogatepass"))
        token = max(index for index, start in enumerate(starts) if start <= at)
        number = number_shares(tokens[token:], at - starts[token], joins=joins)
        if number is None:
            return "not_found"
        if number.seen < LEAST_SEEN:
            return "not_seen"
        distributions.append(number)
    first, second = (tuple(p / distribution.seen for p in distribution.on_scale) for distribution in distributions)
    return LikelyScores(first, second, (distributions[0].seen, distributions[1].seen))


# Where the scores stand

_NUMBER = re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+)?")


def score_places(text: str, reading: Reading, read: Callable[[str], Reading | Unscored]) -> tuple[int, int] | None:
    """Where the first and the second score begin in a reply, ``None`` where that is not clear.

    A number is a score where the reply with another number in its place is read with that other number as its score
    and the other score as it was.
    """
    if reading.first is None or reading.second is None:
        return None
    if not (reading.first.is_integer() and reading.second.is_integer()):
        return None  # the distribution is one over whole numbers
    numbers = list(_NUMBER.finditer(text))[-_MOST_NUMBERS:]
    places = [_score_place(text, reading, read, numbers, which) for which in (0, 1)]
    first, second = places
    return None if first is None or second is None or first == second else (first, second)


def _score_place(
    text: str,
    reading: Reading,
    read: Callable[[str], Reading | Unscored],
    numbers: Sequence[re.Match[str]],
    which: int,
) -> int | None:
    score, other_score = (reading.first, reading.second) if which == 0 else (reading.second, reading.first)
    assert score is not None
    assert other_score is not None
    whole = range(int(SCALE[0]), int(SCALE[1]) + 1)
    # Scores that leave the verdict as it is come first: they contradict nothing that the reply says besides.
    trials = sorted(
        (n for n in whole if n != score), key=lambda n: (n > other_score) - (n < other_score) != _side(reading, which)
    )
    for number in reversed(numbers):
        if float(number[0]) != score:
            continue
        for trial in trials:
            again = read(f"{text[: number.start()]}{trial}{text[number.end() :]}")
            if not isinstance(again, Reading):
                continue
            mine, others = (again.first, again.second) if which == 0 else (again.second, again.first)
            if mine == trial and others == other_score:
                return number.start()
            if mine == score:
                break
    return None


_SIDES: dict[Choice, int] = {"first": 1, "tie": 0, "second": -1}


def _side(reading: Reading, which: int) -> int:
    side = _SIDES[reading.choice]
    return side if which == 0 else -side


# From text to tokens

_PIECES = str.maketrans({"Ġ": " ", "Ċ": "\n", "▁": " "})
"""How some servers write white space in tokens that come without their bytes."""


def _aligned(text: str, tokens: Sequence[TokenAlternatives]) -> tuple[Sequence[TokenAlternatives], list[int]] | None:
    """The tokens, and where each begins in the bytes of the text, which is before its start for what the text lacks;
    ``None`` where the tokens do not make the text."""
    wanted = text.encode("utf-8", "surrogatepass")
    core = wanted.strip()
    for written in (tokens, [_plain_token(token) for token in tokens]):
        at = b"".join(token.text for token in written).rfind(core) if core else -1
        if at >= 0:
            lengths = [len(token.text) for token in written[:-1]]
            return written, list(accumulate(lengths, initial=wanted.find(core) - at))
    return None


def _plain_token(token: TokenAlternatives) -> TokenAlternatives:
    others = tuple((_plain_piece(text), logprob) for text, logprob in token.alternatives)
    return TokenAlternatives(_plain_piece(token.text), token.logprob, others)


def _plain_piece(piece: bytes) -> bytes:
    return piece.decode("utf-8", "replace").translate(_PIECES).encode()


def joins_digits(tokens: Sequence[TokenAlternatives]) -> bool:
    """Whether the model's tokens hold numbers of several digits: some sampled token or alternative does. Then "1" is
    the number 1, and no beginning of 10."""
    return any(
        _TWO_DIGITS.search(text) is not None
        for token in tokens
        for text in (token.text, *(alternative for alternative, _ in token.alternatives))
    )


_TWO_DIGITS = re.compile(rb"[0-9]{2}")


# From tokens to a number

_LEAD = re.compile(rb"[\s\"'`(\[{*_:=$]*")
_DIGITS = re.compile(rb"[0-9]*")
_OFF_SCALE: Final = -1


def number_shares(tokens: Sequence[TokenAlternatives], skip: int, *, joins: bool) -> NumberShares | None:
    """The probabilities of the whole numbers of the scale at a place of a reply, ``None`` where what was sent are no
    probabilities.

    The number begins in the first of ``tokens``, after ``skip`` bytes of it. ``joins`` says whether the model's tokens
    hold several digits (:func:`joins_digits`). Digits that begin no longer number of the scale are that number,
    whatever follows them. "1" is 1 or 10: where it was sampled the next token says how its probability is divided,
    and where it was not and tokens hold one digit each, its probability is unclear.
    """
    low, high = int(SCALE[0]), int(SCALE[1])
    shares = dict.fromkeys(range(low, high + 1), 0.0)
    unclear, weight, said = 0.0, 1.0, b""
    prefix = tokens[0].text[:skip]
    for place, token in enumerate(tokens):
        chances = _chances(token)
        if chances is None:
            return None
        for text, chance in chances.items():
            if text == token.text:
                continue
            value = _value(said + text if place else _without_lead(text, prefix), ended=not text, joins=joins)
            if value is None:
                unclear += weight * chance
            elif value in shares:
                shares[value] += weight * chance
        weight *= chances[token.text]
        said += token.text if place else token.text[skip:]
        if _value(said, ended=not token.text, joins=False) is not None:
            break
    sampled = _value(said, ended=True, joins=joins)
    if sampled in shares:
        shares[sampled] += weight
    return NumberShares(tuple(shares.values()), unclear)


def _chances(token: TokenAlternatives) -> dict[bytes, float] | None:
    """The probabilities of the alternatives at a place, the sampled one among them; ``None`` where they are none."""
    chances: dict[bytes, float] = {}
    # Two tokens may have one text (a digit, and its byte); a token that is listed twice counts once.
    listed = dict.fromkeys(token.alternatives)
    if all(text != token.text for text, _ in listed):
        listed[token.text, token.logprob] = None
    for text, logprob in listed:
        # Servers send -9999 for what has practically no probability.
        if not isfinite(logprob) or logprob > _TOO_MUCH - 1:
            return None
        chances[text] = chances.get(text, 0.0) + min(1.0, exp(logprob))
    return chances if fsum(chances.values()) <= _TOO_MUCH else None


def _without_lead(text: bytes, prefix: bytes) -> bytes:
    """An alternative without what stands before its number; empty where it has none at its start."""
    if prefix and text.startswith(prefix):
        text = text[len(prefix) :]
    elif _ANY_DIGIT.search(prefix):
        return b""  # another number would stand before this one
    lead = _LEAD.match(text)
    return text[lead.end() if lead else 0 :]


_ANY_DIGIT = re.compile(rb"[0-9]")


def _value(text: bytes, *, ended: bool, joins: bool) -> int | None:
    """The whole number that a text begins with: ``None`` where it may become a longer one of the scale,
    :data:`_OFF_SCALE` where it begins with none."""
    match = _DIGITS.match(text)
    digits = match[0] if match else b""
    if not digits:
        return _OFF_SCALE
    number = int(digits)
    if ended or joins or len(digits) < len(text):
        return number
    whole = range(int(SCALE[0]), int(SCALE[1]) + 1)
    return None if any(n > number and str(n).encode().startswith(digits) for n in whole) else number
