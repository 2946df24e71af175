"""From token probabilities to scores and verdicts; every expected value was computed by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgenet.core.evaluation import Reading, Unscored
from judgenet.core.probabilities import (
    LikelyScores,
    TokenAlternatives,
    better_shares,
    expected_score,
    likely_scores,
    number_shares,
    score_places,
    sureness,
)
from judgenet.core.reading import read_judgement

Alternatives = Mapping[str | bytes, float]


def raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def token(text: str | bytes, alternatives: Alternatives | float = 1.0) -> TokenAlternatives:
    """A sampled token with its alternatives, or with its own probability alone."""
    if not isinstance(alternatives, Mapping):
        return TokenAlternatives(raw(text), log(alternatives), ())
    listed = tuple((raw(other), log(p)) for other, p in alternatives.items())
    return TokenAlternatives(raw(text), log(alternatives[text]), listed)


def reply(*parts: str | bytes | tuple[str | bytes, Alternatives]) -> tuple[str, list[TokenAlternatives]]:
    """A reply of tokens; those in a tuple have alternatives."""
    tokens = [token(*part) if isinstance(part, tuple) else token(part) for part in parts]
    return b"".join(of.text for of in tokens).decode(), tokens


def read(text: str) -> Reading | Unscored:
    return read_judgement(text)


def likely(text: str, tokens: Sequence[TokenAlternatives]) -> LikelyScores | str:
    reading = read(text)
    assert isinstance(reading, Reading), reading
    return likely_scores(text, tokens, reading, read)


def scale(**shares: float) -> list[float]:
    """A distribution over 1 to 10: ``scale(n8=.5, n10=.5)``."""
    return [shares.get(f"n{score}", 0.0) for score in range(1, 11)]


# A number at a place


def test_ten_is_one_then_zero() -> None:
    """p(10) = .5 * .9, p(1) = .5 * .1; expected .45 * 10 + .05 + .4 * 9 + .1 * 8 = 8.95."""
    tokens = [token("1", {"1": 0.5, "9": 0.4, "8": 0.1}), token("0", {"0": 0.9, ",": 0.1}), token("}")]
    found = number_shares(tokens, 0, joins=False)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n1=0.05, n8=0.1, n9=0.4, n10=0.45))
    assert found.unclear == 0
    assert expected_score(found.on_scale) == pytest.approx(8.95)


def test_one_and_what_may_follow_it() -> None:
    """Sampled 1: .2 of its .6 would have gone on to 10 and .1 to 15, which is off the scale."""
    tokens = [token("1", {"1": 0.6, "2": 0.4}), token(",", {",": 0.65, "0": 0.2, "5": 0.1, "}": 0.05})]
    found = number_shares(tokens, 0, joins=False)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n1=0.6 * 0.7, n2=0.4, n10=0.6 * 0.2))
    assert found.seen == pytest.approx(1 - 0.06)


@pytest.mark.parametrize(("joins", "one", "unclear"), [(False, 0.0, 0.3), (True, 0.3, 0.0)])
def test_one_that_was_not_sampled_is_unclear_unless_tokens_hold_several_digits(
    joins: bool, one: float, unclear: float
) -> None:
    found = number_shares([token("9", {"9": 0.7, "1": 0.3}), token(",")], 0, joins=joins)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n1=one, n9=0.7))
    assert found.unclear == pytest.approx(unclear)


def test_tokens_of_several_digits_spaces_quotes_and_punctuation() -> None:
    """Alternatives begin like the sampled token, or with other white space; 100, no and -3 are off the scale."""
    alternatives: dict[str | bytes, float] = {
        " 8": 0.3,
        "10": 0.1,
        ' "9"': 0.2,
        "8,": 0.05,
        "\n7}": 0.05,
        " 100": 0.1,
        " no": 0.1,
        " -3": 0.1,
    }
    found = number_shares([token(" 8", alternatives), token("}")], 1, joins=True)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n7=0.05, n8=0.35, n9=0.2, n10=0.1))
    assert found.seen == pytest.approx(0.7)


def test_a_number_at_the_end_of_the_reply_has_ended() -> None:
    for end in ([], [token(b"", 1.0)], [token("<|im_end|>", {"<|im_end|>": 0.75, "0": 0.25})]):
        found = number_shares([token("1", 0.9), *end], 0, joins=False)
        assert found is not None
        ten = 0.9 * 0.25 if end and end[0].text else 0.0
        assert found.on_scale == pytest.approx(scale(n1=0.9 - ten, n10=ten))


def test_the_sampled_token_may_be_missing_among_its_alternatives() -> None:
    one = TokenAlternatives(b"3", log(0.01), ((b"7", log(0.6)), (b"8", log(0.3))))
    found = number_shares([one, token("}")], 0, joins=True)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n3=0.01, n7=0.6, n8=0.3))


def test_two_tokens_of_one_text_are_added_and_repeated_ones_are_not() -> None:
    """ "8" as a token and as a byte: .5 + .2; the sampled token is listed twice."""
    one = TokenAlternatives(b"8", log(0.5), ((b"8", log(0.5)), (b"8", log(0.5)), (b"8", log(0.2)), (b"9", log(0.3))))
    found = number_shares([one, token("}")], 0, joins=True)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n8=0.7, n9=0.3))


def test_what_are_no_probabilities_is_refused() -> None:
    assert number_shares([token("8", {"8": 0.9, "7": 0.5})], 0, joins=True) is None
    assert number_shares([TokenAlternatives(b"8", float("nan"), ())], 0, joins=True) is None
    assert number_shares([TokenAlternatives(b"8", 0.7, ())], 0, joins=True) is None
    impossible = TokenAlternatives(b"8", log(0.95), ((b"8", log(0.95)), (b"9", -9999.0)))
    found = number_shares([impossible], 0, joins=True)
    assert found is not None
    assert found.on_scale == pytest.approx(scale(n8=0.95))


@given(st.lists(st.integers(0, 100), min_size=10, max_size=10), st.integers(1, 10))
@settings(max_examples=80, deadline=None)
def test_any_distribution_comes_back_from_its_tokens(parts: list[int], sampled: int) -> None:
    """A judge with these probabilities of 1 to 10, whose tokens hold whole numbers, or one digit each."""
    parts[sampled - 1] += 1
    p = [part / sum(parts) for part in parts]
    whole = {str(number): p[number - 1] for number in range(1, 11) if p[number - 1]}
    found = number_shares([token(str(sampled), whole), token("}")], 0, joins=True)
    assert found is not None
    assert found.on_scale == pytest.approx(p)
    first = {"1": p[0] + p[9], **{str(n): p[n - 1] for n in range(2, 10)}}
    first = {digit: share for digit, share in first.items() if share}
    then = {text: share / first["1"] for text, share in (("0", p[9]), ("}", p[0])) if share} if "1" in first else {}
    rest = [token("}")]
    if sampled == 1:
        rest = [token("}", then)]
    elif sampled == 10:
        rest = [token("0", then), token("}")]
    found = number_shares([token(str(sampled)[0], first), *rest], 0, joins=False)
    assert found is not None
    if sampled in (1, 10):
        assert found.on_scale == pytest.approx(p)
    else:
        assert found.on_scale == pytest.approx([0.0, *p[1:9], 0.0])
        assert found.unclear == pytest.approx(p[0] + p[9])


# Two scores of a reply


def test_the_scores_of_a_json_reply() -> None:
    """Expected .5 * 8 + .5 * 9 = 8.5 and, of what was seen (.9), (.6 * 7 + .3 * 8) / .9 = 22/3."""
    text, tokens = reply(
        '{"evidence":', ' "8', " out of", " 10", ' say 7."', ', "score_1":', " ", ("8", {"8": 0.5, "9": 0.5}),
        ', "', "score_2", '":', " ", ("7", {"7": 0.6, "8": 0.3, "x": 0.1}), "}",
    )  # fmt: skip
    found = likely(text, tokens)
    assert isinstance(found, LikelyScores)
    assert found.expected == pytest.approx((8.5, 22 / 3))
    assert found.seen == pytest.approx((1.0, 0.9))
    # Higher: 9 over all of the second (.5) and 8 over 7 (.5 * 2/3); equal: 8 and 8 (.5 * 1/3).
    assert found.shares("ab") == pytest.approx((5 / 6, 1 / 6, 0.0))
    assert found.shares("ba") == pytest.approx((0.0, 1 / 6, 5 / 6))
    assert LikelyScores.from_written(found.written()).expected == pytest.approx(found.expected, abs=1e-7)
    reading = read(text)
    assert isinstance(reading, Reading)
    evaluation = found.evaluation(reading, "ba")
    assert (evaluation.score_a, evaluation.score_b) == pytest.approx((22 / 3, 8.5))
    assert (evaluation.verdict, evaluation.scores_from) == ("b", "probabilities")


def test_the_scores_of_a_text_reply_and_characters_of_several_tokens() -> None:
    """Bytes of one character come in two tokens; the first score is the number after the label, not the earlier 8."""
    text, tokens = reply(
        "A caf", b"\xc3", b"\xa9", " \u201c8", "\u201d.", "\nScore of Response", " 1", ":",
        (" 8", {" 8": 0.9, " 4": 0.1}),
        "\nScore of Response", " 2", ":", (" 10", {" 10": 0.25, " 9": 0.75}),
    )  # fmt: skip
    found = likely(text, tokens)
    assert isinstance(found, LikelyScores)
    assert found.expected == pytest.approx((7.6, 9.25))


def test_thinking_before_the_answer_and_tokens_that_the_text_lacks() -> None:
    """Some servers send the tokens of the thinking, and of the end, that are not in the text."""
    text = '{"score_1": 3, "score_2": 3}'
    tokens = [token("Thinking: 3, 3. </think>\n"), token('{"score_1": '), token("3", {"3": 0.8, "5": 0.2})]
    tokens += [token(', "score_2": '), token("3", {"3": 0.5, "4": 0.5}), token("}"), token("\n\n"), token(b"")]
    found = likely(text, tokens)
    assert isinstance(found, LikelyScores)
    assert found.expected == pytest.approx((3.4, 3.5))


def test_tokens_written_with_marks_for_white_space() -> None:
    text = "Score of Response 1: 6\nScore of Response 2: 2"
    tokens = [token("Score"), token("Ġof"), token("ĠResponse"), token("Ġ1"), token(":"), token("Ġ"), token("6", 0.9)]
    tokens += [token("Ċ"), token("Score"), token("Ġof"), token("ĠResponse"), token("Ġ2"), token(":"), token("Ġ2", 0.9)]
    found = likely(text, tokens)
    assert isinstance(found, LikelyScores)
    assert found.expected == pytest.approx((6.0, 2.0))


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (["Output (a) is better."], "not_found"),
        (['{"score_1": 7.5, "score_2": 6}'], "not_found"),
        (['{"score_1": 8, "sc', ("ore_2", {"ore_2": 1.0}), '": ', ("6", {"6": 0.79}), "}"], "not_seen"),
        (['{"score_1": ', ("9", {"9": 0.7, "1": 0.3}), ', "score_2": ', ("6", {"6": 0.9}), "}"], "not_seen"),
    ],
)
def test_why_a_reply_has_no_distributions(parts: list[str | tuple[str, Alternatives]], why: str) -> None:
    text, tokens = reply(*parts)
    assert likely(text, tokens) == why
    assert likely(text, []) == "not_sent"


def test_tokens_of_another_text_are_not_used() -> None:
    assert likely('{"score_1": 8, "score_2": 6}', [token('{"score_1": 9, "score_2": 6}')]) == "not_found"


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ('{"score_1": 8, "score_2": 8}', 12, 26),
        (json.dumps({"evidence": "8 of 8 points. [[8]] 6", "score_1": 8, "score_2": 6}), 50, 64),
        ("8 6\nThe first gives 8 reasons, the second 6.", 0, 2),
        ("<think>Score of Response 1: 8</think>Score of Response 1: 8/10\nScore of Response 2: 10/10", 58, 84),
    ],
)
def test_where_the_scores_stand(text: str, first: int, second: int) -> None:
    reading = read(text)
    assert isinstance(reading, Reading), reading
    found = score_places(text, reading, read)
    assert found == (first, second), text[found[0] :] if found else None


# Distributions


def test_two_equal_scores_are_mostly_a_tie() -> None:
    """Halves on 8 and 9 for both: .25 each side and .5 equal; entropy 1.5 bits, 1 - 1.5 ln 2 / ln 3 = .0536."""
    both = scale(n8=0.5, n9=0.5)
    assert better_shares(both, both) == pytest.approx((0.25, 0.5, 0.25))
    assert sureness((0.25, 0.5, 0.25)) == pytest.approx(0.05360536964281382)


def test_sureness_at_its_ends() -> None:
    assert sureness((1.0, 0.0, 0.0)) == 1
    assert sureness((1 / 3, 1 / 3, 1 / 3)) == pytest.approx(0, abs=1e-12)
