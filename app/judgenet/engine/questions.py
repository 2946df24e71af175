"""Builds the question of a call and reads its answer: shared by runs, estimates and previews."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from judgenet.core.calls import ROLES_LAYER, Parameters, further_settings, scores_setting
from judgenet.core.evaluation import Evaluation, Reading, ScoreSource, Unscored
from judgenet.core.network import NetworkSpec, Role, role_limit
from judgenet.core.pairs import Pair
from judgenet.core.pictures import LARGEST_EDGE, PICTURES_RECORD
from judgenet.core.probabilities import (
    PROBABILITIES,
    SCORES,
    LikelyScores,
    is_written,
    known_source,
    likely_scores,
)
from judgenet.core.prompts import (
    DESCRIPTION_LENGTH,
    Prompt,
    PromptBook,
    PromptLanguage,
    criteria_note,
    criteria_roles,
    family_of,
    language_of,
    mark_of,
    short_role,
)
from judgenet.core.schemas import ReplyForm, judge_schema, roles_schema
from judgenet.engine.embedded_model import EVIDENCE_CHARS
from judgenet.engine.ports import ChatReply, ReplySchema
from judgenet.engine.work import Call, PairWork, Result
from judgenet.store.runs import RecordedAnswer

CallResult = Result | tuple[Role, ...]
"""The content of an answer: an evaluation, roles, or why there is neither."""

FallbackRoles = Callable[[str, int, str], tuple[Role, ...]]
"""Gives roles where the model named none, by task family, number and language."""

_USUAL_WIDTH = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A call as it will be sent. ``key`` is the content key of its answer."""

    form: ReplyForm
    prompt: Prompt
    parameters: Parameters
    digest: str
    schema: ReplySchema | None
    key: bytes
    missing: tuple[str, ...]


def _designed(spec: NetworkSpec, pair: Pair) -> tuple[tuple[Role, ...], str]:
    """The roles of a pair where no model names them, and a note where they differ from the design. A pair without the
    criteria that its neurons judge by gets no calls."""
    roles, note = spec.roles, criteria_note(pair)
    if roles.kind != "criteria":
        return (roles.roles if roles.kind == "fixed" else ()), note
    if pair.criteria:
        widest = max((layer.width or 0) for layer in spec.layers)
        few = f"{len(pair.criteria)} criteria for {widest} neurons" if len(pair.criteria) < widest else ""
        return criteria_roles(pair), "; ".join(filter(None, (few, note)))
    return roles.roles, "no criteria: the fixed roles stand in" if roles.roles else "no criteria"


def with_pictures(parameters: Parameters, prompt: Prompt) -> Parameters:
    """Parameters with the pictures of a prompt and the size in which they are sent, so that they are part of its
    key."""
    named = {"largest_edge": LARGEST_EDGE, "sha256": [mark.picture.sha256 for mark in prompt.pictures]}
    return replace(parameters, more={**parameters.more, PICTURES_RECORD: named})


class Questions:
    """Makes the questions of a network and reads their answers. It uses no endpoint, store or event loop.

    The reply schema of the demo model limits its texts, as it would write without end.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        book: PromptBook,
        salt: str,
        fallback_roles: FallbackRoles,
    ) -> None:
        self.spec = spec
        self._book = book
        self._salt = salt
        self._fallback_roles = fallback_roles
        self._limit = role_limit(spec)
        self._schemas: dict[tuple[bool, str], ReplySchema] = {}
        self._parameters: dict[tuple[object, ...], tuple[Parameters, str]] = {}

    def take_up(self, index: int, pair: Pair) -> tuple[PairWork, list[Call]]:
        """The work on a pair, and its first calls: role generation, or layer 1."""
        spec = self.spec
        language: PromptLanguage = language_of(pair) if spec.language == "auto" else spec.language
        family = family_of(pair) if spec.family == "auto" else spec.family
        work = PairWork(index, pair, spec, self._book, mark_of(pair, self._salt), language, family)
        if work.needs_roles:
            return work, [work.roles_call()]
        return work, work.set_roles(*_designed(spec, pair))

    def question(self, call: Call, form: ReplyForm) -> Question:
        """The question of a call in a reply form."""
        of_roles = call.site.layer == ROLES_LAYER
        prompt = call.work.roles_prompt(form) if of_roles else call.work.prompt(call, form)
        schema = self._schema(of_roles, call.settings.model or "") if form == "json" else None
        parameters, digest = self._parameters_of(call, of_roles, form, schema)
        if prompt.pictures:
            parameters = with_pictures(parameters, prompt)
            digest = parameters.digest()
        key = call.work.key(call, form, prompt, digest)
        missing = call.work.missing(call.work.heard(call), call.site.layer) if call.site.layer > 1 else ()
        return Question(form, prompt, parameters, digest, schema, key, missing)

    def _parameters_of(
        self, call: Call, of_roles: bool, form: ReplyForm, schema: ReplySchema | None
    ) -> tuple[Parameters, str]:
        settings = call.settings
        wanted = (of_roles, form, settings)
        known = self._parameters.get(wanted)
        if known is None:
            parameters = Parameters(
                settings.model or "",
                None if settings.temperature == "default" else settings.temperature,
                settings.max_tokens or 1024,
                None if schema is None else schema.schema,
                further_settings(settings) | ({} if of_roles else scores_setting(settings)),
            )
            known = self._parameters[wanted] = (parameters, parameters.digest())
        return known

    def _schema(self, of_roles: bool, model: str) -> ReplySchema:
        schema = self._schemas.get((of_roles, model))
        if schema is None:
            most = EVIDENCE_CHARS.get(model)
            if of_roles:
                schema = ReplySchema("roles", roles_schema(self._limit, max_text=most))
            else:
                schema = ReplySchema("evaluation", judge_schema(self.spec.evidence, max_evidence=most))
            self._schemas[(of_roles, model)] = schema
        return schema

    def read(self, call: Call, form: ReplyForm, answer: ChatReply | RecordedAnswer) -> tuple[CallResult, str]:
        """The content of an answer, and the rule that read it."""
        # The reader's patterns compile slowly: the first request is sent before that.
        from judgenet.core.reading import read_judgement, read_roles, without_reading

        site, finish_reason = call.site, answer.finish_reason
        if isinstance(answer, ChatReply):
            text, thought = answer.text, answer.thinking is not None
        else:
            text, thought = answer.raw_text, answer.thought
        if site.layer == ROLES_LAYER:
            if (unread := without_reading(finish_reason)) is not None:
                return unread, ""
            return read_roles(text, form=form, limit=self._limit), ""
        reading = read_judgement(text, form=form, finish_reason=finish_reason, thought=thought)
        if isinstance(reading, Unscored):
            return reading, ""
        assert site.order is not None
        if call.settings.scores != PROBABILITIES:
            return Evaluation.from_reading(reading, site.order), reading.rule
        if answer.likely is not None and is_written(answer.likely):
            return LikelyScores.from_written(answer.likely).evaluation(reading, site.order), reading.rule
        source = known_source(answer.likely)
        return replace(Evaluation.from_reading(reading, site.order), scores_from=source), reading.rule

    def with_likely(self, call: Call, form: ReplyForm, reply: ChatReply) -> ChatReply:
        """A reply with the distributions of its scores, or the reason why there are none, in place of its tokens, where
        the call is scored by token probabilities."""
        if call.settings.scores != PROBABILITIES or call.site.layer == ROLES_LAYER:
            return reply
        from judgenet.core.reading import read_judgement

        def read(text: str) -> Reading | Unscored:
            return read_judgement(
                text, form=form, finish_reason=reply.finish_reason, thought=reply.thinking is not None
            )

        reading = read(reply.text)
        if isinstance(reading, Unscored) or reply.likely is not None:
            return replace(reply, tokens=())
        likely: LikelyScores | ScoreSource = "not_applied"
        if SCORES not in reply.applied:
            likely = likely_scores(reply.text, reply.tokens, reading, read)
        return replace(reply, tokens=(), likely=likely if isinstance(likely, str) else likely.written())

    def roles_of(self, work: PairWork, said: CallResult) -> tuple[tuple[Role, ...], str]:
        """The roles of a pair, and a note where they differ from the design; no layer is left empty."""
        widest = max((layer.width or 0) for layer in self.spec.layers)
        cut_criteria = criteria_note(work.pair)
        if isinstance(said, tuple) and said:
            roles = tuple(map(short_role, said)) if self._book.sets_roles_apart(work.language) else said
            notes = [f"{len(said)} of {widest} roles came back"] if len(said) < widest else []
            if cut := sum(shortened != whole for shortened, whole in zip(roles, said, strict=True)):
                notes.append(f"{cut} of {len(said)} roles cut to {DESCRIPTION_LENGTH} characters")
            return roles, "; ".join([*notes, *([cut_criteria] if cut_criteria else [])])
        why = f"no roles came back ({said.reason})" if isinstance(said, Unscored) else "no roles came back"
        if self.spec.roles.roles:
            return self.spec.roles.roles, f"{why}: the fixed roles stand in"
        roles = self._fallback_roles(work.family, widest or _USUAL_WIDTH, work.language)
        return roles, f"{why}: roles of the library stand in"
