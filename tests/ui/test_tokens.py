"""Colours: contrast (WCAG 2.2) and how far A and B stand apart, also for colour-blind eyes."""

from __future__ import annotations

import math

import pytest

from judgenet.ui.tokens import COLORS, THEME_NAMES, TYPE, ThemeName, luminance

TEXTS = ("text", "text2", "text3", "accent", "a", "b", "tie", "good", "warn", "bad", "unscored")
GROUNDS = ("bg", "surface", "canvas", "sunken")
TINTED = ("a", "b", "good", "warn", "bad", "accent", "tie")

# Simulation of dichromacy in linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIMULATION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def contrast_ratio(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def pairs(name: ThemeName) -> list[tuple[str, str, float]]:
    """Colour, ground and the least contrast between them."""
    need = 7.0 if name == "contrast" else 4.5
    rows = [(text, ground, need) for text in TEXTS for ground in GROUNDS]
    rows += [(text, f"{text}Tint", need) for text in TINTED]
    rows += [("text", f"{text}Tint", need) for text in TINTED]
    rows += [("text2", "hover", 4.5), ("text3", "hover", 4.5), ("text", "hover", 4.5)]
    rows += [("onA", "a", 4.5), ("onB", "b", 4.5), ("onTie", "tie", 4.5), ("onAccent", "accent", 4.5)]
    rows += [("onAccent", "accentHover", 4.5)]
    rows += [("line2", ground, 3.0) for ground in ("surface", "bg", "canvas")]
    return rows


@pytest.mark.parametrize("name", THEME_NAMES)
def test_every_text_can_be_read_on_every_ground(name: ThemeName) -> None:
    colors = COLORS[name]
    low = [
        f"{text} on {ground}: {ratio:.2f}"
        for text, ground, need in pairs(name)
        if (ratio := contrast_ratio(getattr(colors, text), getattr(colors, ground))) < need
    ]
    assert low == []


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white is 21, equal colours 1; #777777 on white is 4.48, the known near miss of AA."""
    assert contrast_ratio("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast_ratio("#5746C6", "#5746C6") == pytest.approx(1)
    assert contrast_ratio("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("name", THEME_NAMES)
@pytest.mark.parametrize("eye", SIMULATION)
def test_a_and_b_stand_apart_for_every_eye(name: ThemeName, eye: str) -> None:
    assert distance(COLORS[name].a, COLORS[name].b, eye) > 40
    if name != "contrast":
        assert distance(COLORS[name].a, COLORS[name].accent, eye) > 13


def test_nothing_is_written_under_ten_points() -> None:
    assert min(step.points for step in TYPE.values()) >= 10


def distance(one: str, other: str, eye: str) -> float:
    """CIE76 distance of two colours as an eye sees them."""
    return math.dist(_lab(one, eye), _lab(other, eye))


def _lab(color: str, eye: str) -> tuple[float, float, float]:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    r, g, b = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear, strict=True)))) for row in SIMULATION[eye])
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883

    def f(t: float) -> float:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))
