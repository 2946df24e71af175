"""JudgeNet for Python programs and notebooks: read pairs, design a network, judge, and ask how good the verdicts are.

Its names are the public names of the package: ``import judgenet as jn``.
"""

from __future__ import annotations

from judgenet.api.judging import LiveRun, judge, judge_async
from judgenet.api.labs import BiasLab, bias, open_lab
from judgenet.api.networks import Network, Study, endpoint, load
from judgenet.api.pairs import Pairs, read_pairs
from judgenet.api.plans import labels_to_compare
from judgenet.api.runs import Run, open_run
from judgenet.api.shards import shard_status
from judgenet.figures.base import Figures

__all__ = [
    "BiasLab",
    "Figures",
    "LiveRun",
    "Network",
    "Pairs",
    "Run",
    "Study",
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
