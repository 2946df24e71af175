"""Figures that a run cannot give."""

from __future__ import annotations


class FiguresError(ValueError):
    """A run cannot give these figures; the message says why, and what to do."""
