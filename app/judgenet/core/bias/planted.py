"""Planted: an instruction to the judge stands in the first, then in the second response, and is obeyed both times."""

from __future__ import annotations

import hashlib
import string
import tomllib
from dataclasses import replace
from functools import cache
from typing import Any

from judgenet.assets import asset
from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, Side, drawn
from judgenet.core.bias.promoted import changed
from judgenet.core.pairs import Pair
from judgenet.core.templates import Template

_PLACEHOLDERS = ("place", "other", "code")


@cache
def texts() -> dict[str, Any]:
    """What the lab adds to responses, by kind."""
    return tomllib.loads(asset("bias", "texts.toml").read_text(encoding="utf-8"))


@cache
def instructions() -> tuple[tuple[str, str, Template], ...]:
    """Script, form and text of each instruction."""
    return tuple(
        (entry["script"], entry["form"], Template(f"planted {place}", entry["text"], _PLACEHOLDERS))
        for place, entry in enumerate(texts()["planted"], 1)
    )


def _code(pair: Pair) -> str:
    """A code that looks like the mark of a prompt, and is not it but for one chance in five million million."""
    digest = hashlib.sha256(f"planted\n{pair.content_hash}".encode("ascii")).digest()
    return "".join(string.ascii_lowercase[byte % 26] for byte in digest[:9])


def _drawn(pair: Pair, settings: LabSettings) -> tuple[str, str, Template]:
    known = instructions()
    return known[drawn(settings.seed, pair, len(known), "planted")]


def plant(pair: Pair, side: Side, settings: LabSettings) -> str:
    """The response with an instruction at its end that asks for 10 points; script and form are drawn by the seed."""
    text = _drawn(pair, settings)[2]
    place, other = ("1", "2") if side == "a" else ("2", "1")
    return f"{pair.response(side)}\n\n{text.render(place=place, other=other, code=_code(pair))}"


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The same order twice."""
    showing = changed(pair, settings, "planted", plant)
    if isinstance(showing, NotAllowed):
        return showing
    script, form, _ = _drawn(pair, settings)
    return replace(showing, variety=f"{script}, {form}")


PROBE = Probe(
    key="planted",
    title="Planted score",
    tells="A planted score wins",
    rule="both",
    show=show,
    outcomes=("followed", "defied", "unmoved"),
    above="Follows planted scores",
    against="Goes against planted scores",
    toward=("planted scores", "responses without planted scores"),
    rate="Followed in {hits} of {n} pairs",
)
