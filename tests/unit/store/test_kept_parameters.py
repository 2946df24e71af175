"""The parameters of an answer, as stores of each version keep them."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from judgenet.core.calls import KeyPrefix, Parameters
from judgenet.store.runs import KeptParameters, kept_parameters

_MORE = {"reasoning": "low"}


def test_settings_that_are_not_set_leave_the_key_as_it_was() -> None:
    """The key of version 0.1: SHA-256 over four parameters, the system message and the user message."""
    digest = Parameters("m", 0.5, 512, None).digest()
    assert digest == '["m", 0.5, 512, null]'
    expected = sha256(b'["m", 0.5, 512, null]\n"be fair"\nquestion\n1\n0').digest()
    assert KeyPrefix(digest, "be fair", "ques").key("tion", 1, 0) == expected
    assert Parameters("m", 0.5, 512, None, _MORE).digest() != digest


@pytest.mark.parametrize(
    ("kept", "more", "applied"),
    [
        (["m", None, 512, None], {}, None),
        (["m", None, 512, None, {"temperature": "not applied"}], {}, {"temperature": "not applied"}),
        (["m", None, 512, None, {}], {}, {}),
        (["m", None, 512, None, _MORE, {}], _MORE, {}),
        (["m", None, 512, None, _MORE, {"reasoning": "not applied"}], _MORE, {"reasoning": "not applied"}),
    ],
)
def test_kept_lists_of_every_length(kept: list[object], more: dict[str, str], applied: dict[str, str] | None) -> None:
    assert kept_parameters(json.dumps(kept)) == KeptParameters("m", None, 512, None, more, applied)
