"""Every name that a module offers in ``__all__`` is there, also where a package loads it only when it is asked for."""

from __future__ import annotations

import importlib
import pkgutil

import judgenet

_STARTS = ("judgenet.__main__",)
"""Modules that start the program when they are imported."""


def test_every_offered_name_is_there() -> None:
    offered = 0
    missing = []
    for found in pkgutil.walk_packages(judgenet.__path__, "judgenet."):
        if found.name in _STARTS:
            continue
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            offered += 1
            if not hasattr(module, name):
                missing.append(f"{found.name}.{name}")
    assert missing == []
    assert offered > 50
