"""Shows the question of a call as it is sent, for any neuron and any pair, before or after the call."""

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

ROLES_STAND_IN = "The model will name the roles when the pair is judged; roles of the library are shown instead."
CRITERIA_STAND_IN = "This pair has no criteria; roles of the library are shown instead."
EVALUATIONS_STAND_IN = "The layers before have no answers yet; placeholders show where their evaluations will be."

_STAND_IN_SCORE = 5.0
_USUAL_WIDTH = 3


class NoSuchCall(LookupError):
    """The network makes no such call on this pair; the message says why."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A question as it is shown.

    ``fills`` are the parts of ``prompt.user`` (from, to) that come from the pair, the roles or other neurons. ``notes``
    name the placeholders for what is not known yet. ``answer`` is the recorded answer to exactly this question, if
    there is one. ``tokens`` is estimated.
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

    Recorded answers of the layers before come from the store (``None``: there is none).

    :raises NoSuchCall: the network makes no such call, for example in an order that it does not use.
    """
    # A question is shown even where a stop rule would skip it.
    start = replace(start, spec=without_stop_rules(start.spec))
    salt = start.salt if store is None else store.salt(start.salt)
    lacking = bool(lacking_criteria(start.spec, [pair]))
    if lacking:
        roles = stand_in_roles("general", _USUAL_WIDTH, "en")
        start = replace(start, spec=replace(start.spec, roles=replace(start.spec.roles, roles=roles)))
    questions = Questions(start.spec, start.book, salt, stand_in_roles)
    path = _PathToCall(start, store, questions, CRITERIA_STAND_IN if lacking else "")
    work, ready = questions.take_up(index, pair)
    if layer == ROLES_LAYER:
        if not work.needs_roles:
            raise NoSuchCall("The network does not ask for roles.")
        return path.shown(ready[0], ())
    if work.needs_roles:
        ready = path.roles(work, ready[0])
    wanted = (layer, neuron, order, sample)
    waiting = deque(ready)
    heard: list[str] = []
    while waiting:
        call = waiting.popleft()
        if call.site[1:] == wanted:
            return path.shown(call, heard)
        if call.site.layer >= layer:
            continue
        result = path.result(call)
        if isinstance(result, Evaluation):
            heard.append(result.evidence.strip())
        waiting.extend(work.finish(call.site, result)[0])
    raise NoSuchCall(_why_not(start, work, layer, neuron, order))


class _PathToCall:
    """Leads a pair to a call, with recorded answers as far as there are any, and placeholders after that."""

    def __init__(self, start: Start, store: Store | None, questions: Questions, note: str) -> None:
        self._start = start
        self._store = store
        self._questions = questions
        self._notes: list[str] = [note] if note else []

    def _form(self, call: Call) -> ReplyForm:
        """The reply form for the endpoint, by what is known about it."""
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
        """The calls of layer 1, with the roles that the model named, or with others in their place."""
        asked = self._recorded(call)
        if asked is not None:
            question, answer = asked
            said, _ = self._questions.read(call, question.form, answer)
            return work.set_roles(*self._questions.roles_of(work, said))
        self._notes.append(ROLES_STAND_IN)
        widest = max((layer.width or 0 for layer in self._start.spec.layers), default=0)
        stand_in = self._start.spec.roles.roles or stand_in_roles(work.family, widest or _USUAL_WIDTH, work.language)
        return work.set_roles(stand_in, "")

    def result(self, call: Call) -> Result:
        """The result of a call of an earlier layer, or a placeholder."""
        if not self._notes:
            asked = self._recorded(call)
            if asked is not None:
                question, answer = asked
                said, _ = self._questions.read(call, question.form, answer)
                if not isinstance(said, tuple):
                    return said
        if EVALUATIONS_STAND_IN not in self._notes:
            self._notes.append(EVALUATIONS_STAND_IN)
        who = call.role.name if call.role is not None else f"neuron {call.site.neuron}"
        evidence = f"[What {who} will write in the order {(call.site.order or 'ab').upper()}]"
        return Evaluation(evidence, "tie", _STAND_IN_SCORE, _STAND_IN_SCORE)

    def shown(self, call: Call, heard: Iterable[str]) -> Preview:
        """The question of the call."""
        asked = self._recorded(call) if not self._notes else None
        question = asked[0] if asked is not None else self._questions.question(call, self._form(call))
        pair = call.work.pair
        texts = [*pair.spoken_parts(), *heard]
        texts += [" ".join(criterion.text.split()) for criterion in pair.criteria]
        if call.role is not None:
            texts += [" ".join(call.role.name.split()), " ".join(call.role.description.split())]
        for role in call.work.roles or () if call.site.layer > 1 else ():
            texts.append(" ".join(role.description.split()))
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
            answer=None if asked is None else asked[1].raw_text,
            tokens=prompt.tokens(kind, question.parameters.model),
        )


def _fills(text: str, filled: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """The places of the filled-in texts, in order; overlapping ones are merged."""
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
    if layer <= start.spec.depth and not any(working.place == neuron - 1 for working in work.layers[layer - 1]):
        return f"Neuron {neuron} is not used on this pair, which has {len(work.roles or ())} roles."
    if order is not None and start.spec.orders not in ("both", "random") and start.spec.orders != order:
        return f"The network uses the order {start.spec.orders.upper()} only."
    return f"Layer {layer}, neuron {neuron} makes no call in this order on this pair."
