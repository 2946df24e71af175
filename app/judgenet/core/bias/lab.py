"""From pairs and probes to the prompts of a lab and what will be counted: the plan, before anything is asked."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import BiasError, LabSettings, NotAllowed, Position
from judgenet.core.pairs import Pair, Verdict, majority, question_key


@dataclass(frozen=True, slots=True)
class Item:
    """What a probe counts once: a pair with its prompts, by their ids, and the target of each.

    ``question`` numbers the instructions from 0. ``variety`` is which of a probe's forms the pair got.
    """

    pair: str
    question: int
    prompts: tuple[str, ...]
    targets: tuple[Position, ...]
    variety: str = ""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What a probe allows of the pairs: ``items``, and how many pairs it leaves out for which reason."""

    key: str
    items: tuple[Item, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The plan of the probe in one line, for people."""
        total = len(self.items) + sum(self.left_out.values())
        why = "; ".join(f"{count:,}: {reason}" for reason, count in self.left_out.items())
        return f"{len(self.items):,} of {total:,} pairs" + (f" ({why})" if why else "")


@dataclass(frozen=True, slots=True)
class SystemGame:
    """A pair as a game of two systems: its question, their names, what people say, and the ids of its prompts in both
    orders, without and with names. Which of them are asked depends on the probes."""

    pair: str
    question: int
    first: str
    second: str
    human: Verdict | None
    prompts: tuple[str, str]
    named: tuple[str, str]
    annotators: tuple[tuple[str, Verdict], ...] = ()


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab without its texts. ``pairs`` and ``questions`` are those that were drawn."""

    settings: LabSettings
    probes: tuple[ProbePlan, ...]
    pairs: int
    questions: int
    games: tuple[SystemGame, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The record of the lab; :meth:`from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Lab:
        """The inverse of :meth:`to_json`; the record is trusted."""
        return cls(
            LabSettings(**{**record["settings"], "own": tuple(record["settings"]["own"])}),
            tuple(
                ProbePlan(
                    probe["key"],
                    tuple(
                        Item(
                            item["pair"],
                            item["question"],
                            tuple(item["prompts"]),
                            tuple(item["targets"]),
                            item["variety"],
                        )
                        for item in probe["items"]
                    ),
                    probe["left_out"],
                )
                for probe in record["probes"]
            ),
            record["pairs"],
            record["questions"],
            tuple(_game(probe) for probe in record["games"]),
        )


@dataclass(frozen=True, slots=True)
class BuiltLab:
    """A lab with the prompts that it asks, each once: pairs for the engine, which shows them in ``shown.order``."""

    lab: Lab
    prompts: tuple[Pair, ...]


def build_lab(pairs: Iterable[Pair], probes: Sequence[str], settings: LabSettings | None = None) -> BuiltLab:
    """What the probes ask of the pairs.

    Prompts that probes share are asked once. Pairs that a probe does not allow are counted with the reason.

    :raises BiasError: there is no pair, no probe allows any, or an unknown probe.
    """
    settings = settings or LabSettings()
    for key in probes:
        if key not in PROBES:
            raise BiasError(f"There is no probe {key!r}; there are {', '.join(PROBES)}.")
    chosen = draw_questions(pairs, settings)
    if not chosen:
        raise BiasError("There are no pairs to judge.")
    numbers = {key: number for number, key in enumerate(dict.fromkeys(question_key(pair.question) for pair in chosen))}
    prompts: dict[str, Pair] = {}
    plans = []
    for key in (key for key in PROBES if key in probes):
        items: list[Item] = []
        left_out: Counter[str] = Counter()
        for pair in chosen:
            showing = PROBES[key].show(replace(pair, shown=None), settings)
            if isinstance(showing, NotAllowed):
                left_out[showing.reason] += 1
                continue
            for prompt in showing.prompts:
                if prompts.setdefault(prompt.id, prompt) != prompt:
                    raise BiasError(f"Two pairs would be asked as {prompt.id!r}. Give them ids that differ more.")
            ids = tuple(prompt.id for prompt in showing.prompts)
            items.append(Item(pair.id, numbers[question_key(pair.question)], ids, showing.targets, showing.variety))
        plans.append(ProbePlan(key, tuple(items), dict(left_out.most_common())))
    if not prompts:
        why = "; ".join(f"{plan.key}: {plan.line}" for plan in plans)
        raise BiasError(f"None of the probes allows any of these pairs. {why}")
    lab = Lab(settings, tuple(plans), len(chosen), len(numbers), _games(chosen, numbers))
    return BuiltLab(lab, tuple(prompts.values()))


def draw_questions(pairs: Iterable[Pair], settings: LabSettings) -> tuple[Pair, ...]:
    """The pairs of so many instructions, in their order. A larger draw holds the smaller one."""
    pairs = tuple(pairs)
    if settings.instructions is None:
        return pairs
    seed = str(settings.seed).encode("ascii")
    questions = dict.fromkeys(question_key(pair.question) for pair in pairs)
    kept = set(sorted(questions, key=lambda key: hashlib.sha256(seed + key).digest())[: settings.instructions])
    return tuple(pair for pair in pairs if question_key(pair.question) in kept)


def require_own(own: Iterable[str], systems: Iterable[str]) -> None:
    """Checks that each of a judge's own systems is among those that the pairs name.

    :raises BiasError: one is not; the message lists those that are.
    """
    there = sorted(set(systems))
    for name in own:
        if name not in there:
            listed = ", ".join(there[:10]) or "none"
            raise BiasError(f"{name}: no pair has a response of this name. Names in the pairs: {listed}.")


def _games(pairs: Iterable[Pair], numbers: Mapping[bytes, int]) -> tuple[SystemGame, ...]:
    """The pairs of two named systems."""
    games = []
    for pair in pairs:
        if not pair.model_a or not pair.model_b or pair.model_a == pair.model_b:
            continue
        human = pair.human if pair.human is not None else majority(verdict for _, verdict in pair.annotators)
        plain = (f"{pair.id} · ab", f"{pair.id} · ba")
        named = (f"{pair.id} · named ab", f"{pair.id} · named ba")
        question = numbers[question_key(pair.question)]
        games.append(SystemGame(pair.id, question, pair.model_a, pair.model_b, human, plain, named, pair.annotators))
    return tuple(games)


def _game(record: Mapping[str, Any]) -> SystemGame:
    tuples = {name: tuple(record[name]) for name in ("prompts", "named")}
    return SystemGame(**{**record, **tuples, "annotators": tuple((name, said) for name, said in record["annotators"])})


def lab_id(built: BuiltLab, network: str) -> str:
    """The id of a lab: a digest of its settings, of what is counted, of the prompts with their texts, and of the
    network that is measured, so that another network has a lab of its own. The margin is no part of it: it changes how
    the same answers are read, not what is asked."""
    record = built.lab.to_json()
    del record["settings"]["margin"]
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode("ascii"))
    for prompt in built.prompts:
        digest.update(prompt.content_hash.encode("ascii"))
    digest.update(network.encode("ascii"))
    return digest.hexdigest()[:16]
