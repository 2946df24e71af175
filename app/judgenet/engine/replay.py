"""An endpoint that answers from a recorded run: no network, no cost."""

from __future__ import annotations

from typing import Any, get_args

from judgenet.core.evaluation import Reason
from judgenet.core.schemas import ReplyForm
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, FinishReason, OnText, Usage
from judgenet.store.db import Store, restored
from judgenet.store.runs import kept_parameters, newest_key

_FINISH: dict[str, FinishReason] = {name: name for name in get_args(FinishReason)}


class ReplayEndpoint:
    """Gives the kept answers of another store, found by the content of the call.

    A run that replays uses the store's salt, so that equal pairs give equal prompts. A call that was not recorded
    fails with :attr:`Reason.NOT_RECORDED`: another prompt, model or parameter is another call.
    """

    away_for = 0.0

    def __init__(self, name: str, store: Store, concurrency: int = 64) -> None:
        self.name = name
        self.concurrency = concurrency
        self._store = store
        self._forms: dict[str, ReplyForm] = {}

    def form(self, model: str) -> ReplyForm:
        """The form in which most of the model's answers were recorded."""
        form = self._forms.get(model)
        if form is None:
            row = self._store.reader.execute(
                "SELECT form FROM calls WHERE model=? GROUP BY form ORDER BY count(*) DESC LIMIT 1", (model,)
            ).fetchone()
            form = self._forms[model] = "text" if row is not None and row[0] == "text" else "json"
        return form

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """The recorded answer.

        :raises CallFailed: the call was not recorded.
        """
        row = self._store.reader.execute(
            "SELECT raw_text, finish_reason, raw_finish, returned_model, fingerprint, thinking, tokens_in, tokens_out, "
            "tokens_cached, tokens_reasoning, tokens_estimated, latency_s, attempts, "
            f"parameters, {self._store.column('calls', 'likely')} FROM calls WHERE key=?",
            (newest_key(self._store, bytes.fromhex(request.key)),),
        ).fetchone()
        if row is None:
            raise CallFailed(
                Reason.NOT_RECORDED,
                f"{self._store.path.name} holds no answer to this call: pair, prompt, model or parameters differ.",
                attempts=0,
            )
        text = restored(row[0])
        if on_text is not None:
            on_text(text)
        return ChatReply(
            text=text,
            finish_reason=_FINISH.get(row[1], "unknown"),
            raw_finish_reason=row[2],
            model=row[3],
            fingerprint=row[4],
            thinking=None if row[5] is None else restored(row[5]),
            usage=Usage(row[6], row[7], row[8], row[9], bool(row[10])),
            latency_s=row[11],
            attempts=row[12],
            applied=kept_parameters(row[13]).applied or {},
            likely=row[14],
        )

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        """Does nothing: no call is under way."""

    def resume(self) -> None:
        """Does nothing: a replay never stops."""

    async def close(self) -> None:
        self._store.close()
