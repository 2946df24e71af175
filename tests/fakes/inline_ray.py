"""Ray without processes: a task is done when it is asked for, an actor is an object. What it is for is in
``tests/unit/cli/test_run_ray.py``, which runs the real one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest


class Crashed(Exception):
    """What Ray tells of a worker whose process is gone."""


CHOSEN: list[dict[str, str]] = []
"""Which nodes were chosen for tasks, in order."""


class _Ref:
    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self.value, self.error = value, error


class _Method:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def remote(self, *values: Any) -> _Ref:
        try:
            return _Ref(self._function(*values))
        except Exception as error:
            return _Ref(error=error)


class _Actor:
    def __init__(self, target: Any) -> None:
        self.target = target

    def __getattr__(self, name: str) -> _Method:
        return _Method(getattr(self.target, name))


class _Remote:
    def __init__(self, target: Any) -> None:
        self._target = target

    def options(self, *, label_selector: dict[str, str]) -> _Remote:
        CHOSEN.append(label_selector)
        return self

    def remote(self, *values: Any) -> Any:
        return (
            _Actor(self._target(*values)) if isinstance(self._target, type) else _Method(self._target).remote(*values)
        )


class InlineRay:
    """Takes the place of the module ``ray``."""

    exceptions = SimpleNamespace(ActorUnavailableError=Crashed, ActorDiedError=Crashed)

    def __init__(self) -> None:
        self.others = 1
        """So many nodes beside the one on which all tasks run."""

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "here")

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": name, "Alive": True, "Resources": {"CPU": 1.0}} for name in ["here", "there"][: 1 + self.others]
        ]

    def is_initialized(self) -> bool:
        return True

    def remote(self, **options: Any) -> Callable[[Any], _Remote]:
        return _Remote

    def get(self, ref: _Ref) -> Any:
        if ref.error is not None:
            raise ref.error
        return ref.value

    def wait(self, refs: list[_Ref], timeout: float) -> tuple[list[_Ref], list[_Ref]]:
        return refs, []

    def kill(self, actor: _Actor) -> None: ...

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}


def use_inline_ray(monkeypatch: pytest.MonkeyPatch) -> InlineRay:
    """Puts it in the place of Ray for a test."""
    made = InlineRay()
    CHOSEN.clear()
    monkeypatch.setitem(sys.modules, "ray", made)
    return made
