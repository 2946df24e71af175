"""A call's question as it will be sent, for any neuron and any pair, before or after it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from judgenet.core.calls import ROLES_LAYER, Parameters
from judgenet.core.cascade import without_stop_rules
from judgenet.core.evaluation import Evaluation
from judgenet.core.network import Role
from judgenet.core.pair_checks import lacking_criteria
from judgenet.core.pairs import Order, Pair
from judgenet.core.prompts import Prompt
from judgenet.core.roles import stand_in_roles
from judgenet.core.schemas import ReplyForm
from judgenet.engine.providers import common
from judgenet.engine.questions import Question, Questions
from judgenet.engine.session import Start
from judgenet.engine.work import Call, PairWork, Result
from judgenet.store.db import Store
from judgenet.store.runs import RecordedAnswer, recorded

ROLES_STAND_IN = "The model names the roles when the pair is judged: roles of the library stand in for them."
CRITERIA_STAND_IN = "This pair has no criteria: roles of the library stand in for them."
EVALUATIONS_STAND_IN = "The layers before were not asked yet: stand-ins show where their evaluations will be."

_STAND_IN_SCORE = 5.0
_USUAL_WIDTH = 3


class NoSuchCall(LookupError):
    """The network makes no such call on this pair; the message says why."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A question.

    ``fills`` are the parts of ``prompt.user`` (from, to) that come from the pair, the roles or other neurons. ``notes``
    say what stands in for what is not known yet. ``answer`` is the recorded answer to this very question, if there is
    one. ``tokens`` is estimated.
    """

    prompt: Prompt
    form: ReplyForm
    parameters: Parameters
    role: Role | None
    fills: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    answer: str | None
    tokens: int


def preview(
    start: Start,
    store: Store | None,
    pair: Pair,
    *,
    layer: int,
    neuron: int,
    order: Order | None = "ab",
    sample: int = 1,
    index: int = 0,
) -> Preview:
    """The question of a call; ``layer`` and ``neuron`` count from 1 as in :class:`~judgenet.core.calls.CallSite`.

    Recorded answers of the layers before are taken from the store (``None``: there is none).

    :raises NoSuchCall: the network makes no such call, such as an order that is not asked.
    """
    # A question is shown whether or not a stop rule would leave it out.
    start = replace(start, spec=without_stop_rules(start.spec))
    salt = start.salt if store is None else store.salt(start.salt)
    lacking = bool(lacking_criteria(start.spec, [pair]))
    if lacking:
        roles = stand_in_roles("general", _USUAL_WIDTH, "en")
        start = replace(start, spec=replace(start.spec, roles=replace(start.spec.roles, roles=roles)))
    questions = Questions(start.spec, start.book, salt, stand_in_roles)
    way = _Way(start, store, questions, CRITERIA_STAND_IN if lacking else "")
    work, ready = questions.take_up(index, pair)
    if layer == ROLES_LAYER:
        if not work.needs_roles:
            raise NoSuchCall("The network does not ask for roles.")
        return way.shown(ready[0], ())
    if work.needs_roles:
        ready = way.roles(work, ready[0])
    wanted = (layer, neuron, order, sample)
    waiting = deque(ready)
    heard: list[str] = []
    while waiting:
        call = waiting.popleft()
        if call.site[1:] == wanted:
            return way.shown(call, heard)
        if call.site.layer >= layer:
            continue
        result = way.result(call)
        if isinstance(result, Evaluation):
            heard.append(result.evidence.strip())
        waiting.extend(work.finish(call.site, result)[0])
    raise NoSuchCall(_why_not(start, work, layer, neuron, order))


class _Way:
    """Follows a pair to a call: recorded answers as far as they go, stand-ins after that."""

    def __init__(self, start: Start, store: Store | None, questions: Questions, note: str) -> None:
        self._start = start
        self._store = store
        self._questions = questions
        self._notes: list[str] = [note] if note else []

    def _form(self, call: Call) -> ReplyForm:
        """The form in which the endpoint is asked, by what is known of it."""
        endpoint, model = call.settings.endpoint or "", call.settings.model or ""
        profile = self._start.profiles.get(endpoint)
        if profile is not None and profile.structured == "never":
            return "text"
        if self._store is not None and self._store.load(endpoint, model).get(common.SCHEMA) == common.REFUSED:
            return "text"
        return "json"

    def _recorded(self, call: Call) -> tuple[Question, RecordedAnswer] | None:
        if self._store is None:
            return None
        usual = self._form(call)
        other: ReplyForm = "text" if usual == "json" else "json"
        for form in (usual, other):
            question = self._questions.question(call, form)
            answer = recorded(self._store, question.key)
            if answer is not None:
                return question, answer
        return None

    def roles(self, work: PairWork, call: Call) -> list[Call]:
        """The calls of layer 1, with the roles that the model named or with stand-ins."""
        found = self._recorded(call)
        if found is not None:
            question, answer = found
            said, _ = self._questions.read(call, question.form, answer)
            return work.set_roles(*self._questions.roles_of(work, said))
        self._notes.append(ROLES_STAND_IN)
        widest = max((of.width or 0 for of in self._start.spec.layers), default=0)
        stand_in = self._start.spec.roles.roles or stand_in_roles(work.family, widest or _USUAL_WIDTH, work.language)
        return work.set_roles(stand_in, "")

    def result(self, call: Call) -> Result:
        """What a call of a layer before came to, or a stand-in."""
        if not self._notes:
            found = self._recorded(call)
            if found is not None:
                question, answer = found
                said, _ = self._questions.read(call, question.form, answer)
                if not isinstance(said, tuple):
                    return said
        if EVALUATIONS_STAND_IN not in self._notes:
            self._notes.append(EVALUATIONS_STAND_IN)
        who = call.role.name if call.role is not None else f"neuron {call.site.neuron}"
        evidence = f"[What {who} will write in the order {(call.site.order or 'ab').upper()}]"
        return Evaluation(evidence, "tie", _STAND_IN_SCORE, _STAND_IN_SCORE)

    def shown(self, call: Call, heard: Iterable[str]) -> Preview:
        """The question of the call that was looked for."""
        found = self._recorded(call) if not self._notes else None
        question = found[0] if found is not None else self._questions.question(call, self._form(call))
        pair = call.work.pair
        texts = [*pair.spoken_parts(), *heard]
        texts += [" ".join(criterion.text.split()) for criterion in pair.criteria]
        if call.role is not None:
            texts += [" ".join(call.role.name.split()), " ".join(call.role.description.split())]
        for told in call.work.roles or () if call.site.layer > 1 else ():
            texts.append(" ".join(told.description.split()))
        prompt = question.prompt
        profile = self._start.profiles.get(call.settings.endpoint or "")
        kind = "" if profile is None else profile.kind
        return Preview(
            prompt=prompt,
            form=question.form,
            parameters=question.parameters,
            role=call.role,
            fills=_fills(prompt.user, texts),
            notes=tuple(self._notes),
            answer=None if found is None else found[1].raw_text,
            tokens=prompt.tokens(kind, question.parameters.model),
        )


def _fills(text: str, filled: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Where the filled-in texts stand, in order, overlapping ones as one."""
    spans: list[tuple[int, int]] = []
    for part in {part for part in filled if part.strip()}:
        at = text.find(part)
        while at >= 0:
            spans.append((at, at + len(part)))
            at = text.find(part, at + len(part))
    spans.sort()
    merged: list[tuple[int, int]] = []
    for begin, end in spans:
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _why_not(start: Start, work: PairWork, layer: int, neuron: int, order: Order | None) -> str:
    if layer > start.spec.depth and start.spec.chair is None:
        return "The network has no chair."
    if layer <= start.spec.depth and not any(one.place == neuron - 1 for one in work.layers[layer - 1]):
        return f"Neuron {neuron} rests on this pair: there are {len(work.roles or ())} roles for it."
    if order is not None and start.spec.orders not in ("both", "random") and start.spec.orders != order:
        return f"The network asks in the order {start.spec.orders.upper()} only."
    return f"In this order layer {layer}, neuron {neuron} is not asked on this pair."
