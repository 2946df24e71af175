"""Turns an endpoint's answer into the reply that a run reads, with its text, tokens and changed parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judgenet.core.documents import well_formed
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.pictures import picture_tokens
from judgenet.core.probabilities import PROBABILITIES, SCORES
from judgenet.core.tokens import estimate_tokens
from judgenet.engine.exchange import ExchangeResult
from judgenet.engine.known_model import KnownModel
from judgenet.engine.ports import ChatReply, ChatRequest, Usage
from judgenet.engine.providers import common
from judgenet.engine.providers.common import AnswerBuilder, Provider


class Replies:
    """Turns the answers of one endpoint into replies. ``report`` gets a message, once for each model, about what its
    answers show of the server."""

    def __init__(self, profile: EndpointProfile, provider: Provider, report: Callable[[str], None]) -> None:
        self._name = profile.name
        self._kind = profile.kind
        self._provider = provider
        self._report = report

    def reply(
        self, outcome: ExchangeResult, request: ChatRequest, model: KnownModel, sent: int, applied: Mapping[str, Any]
    ) -> ChatReply:
        """The reply of an answer to attempt number ``sent``. ``applied`` holds the parameters that were sent otherwise
        than asked for."""
        answer = outcome.answer
        text = "".join(answer.text)
        if called := "".join(answer.called):
            text = f"{text.rstrip()}\n{called}" if text.strip() else called
        if not text and answer.refusal:
            text = "".join(answer.refusal)
        text = well_formed(text)
        thinking = well_formed("".join(answer.thinking)) or None
        usage = self._usage(answer, request, text, thinking or "")
        if request.more.get(common.REASONING) == "none" and (thinking or usage.reasoning):
            # Some servers ignore what they do not know.
            applied = {**applied, common.REASONING: common.NOT_APPLIED}
        if not usage.estimated:
            self._watch_window(request, model, usage.prompt, usage.completion)
        return ChatReply(
            text=text,
            finish_reason=common.finish_reason(answer, self._provider.finish_reasons),
            raw_finish_reason=answer.raw_finish,
            model=answer.model,
            fingerprint=answer.fingerprint,
            thinking=thinking,
            usage=usage,
            latency_s=outcome.latency_s,
            attempts=sent,
            applied=applied,
            tokens=tuple(answer.tokens),
        )

    def _usage(self, answer: AnswerBuilder, request: ChatRequest, text: str, thinking: str) -> Usage:
        """The tokens of a call as the endpoint counts them, estimated where it does not."""
        prompt, completion, cached, reasoning = answer.usage or (0, 0, 0, 0)
        estimated = False
        if prompt == 0:
            prompt, estimated = self.prompt_tokens(request), True
        if completion == 0 and answer.unreadable is not None:
            # What it took to write is not known: it is counted with the most that was asked for.
            completion, estimated = request.most_tokens, True
        if completion == 0 and (text or thinking):
            completion, estimated = estimate_tokens(text) + estimate_tokens(thinking), True
        return Usage(prompt, completion, cached, reasoning, estimated)

    def prompt_tokens(self, request: ChatRequest) -> int:
        """About how many tokens a request's prompt has."""
        tokens = estimate_tokens(request.system) + estimate_tokens(request.user)
        for sent in request.pictures:
            tokens += picture_tokens(self._kind, request.model, sent.picture.width, sent.picture.height)
        return tokens

    def watch_scores(self, request: ChatRequest, model: KnownModel, reply: ChatReply) -> None:
        """Reports once that token probabilities were asked for and none came. A refusal is reported when it is
        learned."""
        wanted = request.more.get(SCORES) == PROBABILITIES
        if not wanted or reply.tokens or model.reported_scores or SCORES in model.learned:
            return
        model.reported_scores = True
        gives = "came without" if SCORES in self._provider.parameters else "are of an API that gives no"
        self._report(
            f"{self._name}, {request.model}: answers {gives} token probabilities; such scores are those of the text.",
        )

    def _watch_window(self, request: ChatRequest, model: KnownModel, prompt: int, completion: int) -> None:
        """Reports once that prompt and answer fill exactly a power of two: some servers silently cut prompts to the
        context that they were started with."""
        total = prompt + completion
        if model.reported_window or total < 1024 or total & (total - 1) or completion >= request.most_tokens:
            return
        model.reported_window = True
        model.learned["context_window"] = total
        self._report(
            f"{self._name}, {request.model}: prompt and answer fill exactly {total} tokens. The server's context is "
            "probably that small, and prompts may be cut: start it with a larger one.",
        )
