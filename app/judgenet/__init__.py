"""JudgeNet: networks of LLM judges, and how far their verdicts can be trusted.

>>> import judgenet as jn                                          # doctest: +SKIP
>>> pairs = jn.read_pairs("pairs.jsonl")                           # doctest: +SKIP
>>> net = jn.Network.layers(4, 2, model="gpt-4.1-mini", endpoint="openai")  # doctest: +SKIP
>>> run = jn.judge(pairs, net, out="study", budget=5)              # doctest: +SKIP
>>> run.agreement()                                                # doctest: +SKIP

Names are loaded when they are first used: importing the package alone loads nothing of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from judgenet.version import __version__

if TYPE_CHECKING:
    from judgenet.api import (
        BiasLab,
        Figures,
        LiveRun,
        Network,
        Pairs,
        Run,
        Study,
        bias,
        endpoint,
        judge,
        judge_async,
        labels_to_compare,
        load,
        open_lab,
        open_run,
        read_pairs,
        shard_status,
    )


__all__ = [
    "BiasLab",
    "Figures",
    "LiveRun",
    "Network",
    "Pairs",
    "Run",
    "Study",
    "__version__",
    "bias",
    "endpoint",
    "judge",
    "judge_async",
    "labels_to_compare",
    "load",
    "open_lab",
    "open_run",
    "read_pairs",
    "shard_status",
]

# The matrices here are small. Spread over threads, their products mostly wait for one another: learning from LLMBar's
# recorded judges took 30 times the processor time, and stalled where other programs were at work. NumPy reads this when
# it is first imported; a setting of the user's own holds.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judgenet import api

    value = globals()[name] = getattr(api, name)
    return value


def __dir__() -> list[str]:
    return __all__
