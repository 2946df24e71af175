"""The batch endpoints of OpenAI, Anthropic and Gemini, beside the judge server's chat endpoints, with their faults.

Written from the providers' references, not from the program. A batch is answered when it is looked at and its time has
come; what is answered is paid for then, whether anybody fetches it or not.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

BATCH_FAULTS = (
    "deaf", "expired", "lost", "duplicated", "reordered", "errors", "stuck", "full", "failed", "foreign", "result_500",
    "result_cut", "result_hang",
)  # fmt: skip
"""What can be wrong with a batch.

``deaf``: it cannot be cancelled. ``expired``: every other call was not answered. ``lost``: every third result is
missing. ``duplicated``: each result comes again, and once more as unanswered. ``errors``: every third call got a 500.
``stuck``: it ends only when it is cancelled, with half of it answered. ``full``: it is refused as too much is queued.
``failed``: it is refused for good. ``foreign``: a result of somebody else stands among its own. ``result_500``,
``result_cut`` and ``result_hang``: the first download fails, breaks off, or goes on no further."""
SENDING_FAULTS = ("pending", "429", "413", "500", "created_500", "created_reset", "upload_500", "404", "401")
"""What can be wrong with the creation. ``pending``: Azure has not taken the file in yet.
``created_…``: the batch is made, and the answer says otherwise or is lost."""


@dataclass
class SentBatch:
    """A batch as the server has it. ``requests`` are (mark, body) in the order in which they came."""

    id: str
    dialect: str
    model: str
    requests: list[tuple[str, dict[str, Any]]]
    faults: list[str]
    label: str = ""
    file: str = ""
    created: float = field(default_factory=time.time)
    state: str = "in_progress"
    results: list[dict[str, Any]] = field(default_factory=list)
    answered: int = 0
    downloads: int = 0
    cancelled: bool = False


_ROOT = r"(?:/v1|/openai/v1|/openai)"
"""Where OpenAI has its batches, and Azure, now and before."""


class BatchServer:
    """The batches of a judge server. ``answer`` judges one request: (dialect, path, body) to a whole reply."""

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        self.batches: list[SentBatch] = []
        self.files: dict[str, bytes] = {}
        self.created_calls = 0
        self._uploads: dict[str, str] = {}
        self._numbers = itertools.count(1)

    @property
    def _settings(self) -> Any:
        return self._judge.settings

    # Routes

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse | None:
        """The answer to a request about batches or files, ``None`` where it is about something else."""
        path, method = request.path, request.method
        for pattern, wanted, action in self._routes:
            found = re.fullmatch(pattern, path)
            if found and method == wanted:
                key = self._settings.key
                if key is not None and key not in self._given(request):
                    return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
                if action in self._looks and self._settings.batch_looks > 0:
                    self._settings.batch_looks -= 1
                    return web.json_response({"error": {"message": "Unavailable."}}, status=503)
                return await action(self, request, *found.groups())
        return None

    def _given(self, request: web.BaseRequest) -> set[str]:
        names = ("api-key", "x-api-key", "x-goog-api-key")
        return {request.headers.get("authorization", "").removeprefix("Bearer "), *map(request.headers.get, names)}

    def _next(self, kind: str) -> str | None:
        """The fault of the next sending, if one of this kind is due."""
        script = self._settings.batch_sending
        if script and (script[0] or "").startswith("upload") == (kind == "upload"):
            fault: str | None = script.pop(0)
            return fault
        return None

    def _new(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers)}"

    async def _create(
        self, request: web.BaseRequest, batch: SentBatch, shown: Callable[[SentBatch], dict[str, Any]]
    ) -> web.StreamResponse:
        fault = self._next("create")
        most = self._settings.batch_most
        if fault == "413" or (most is not None and len(batch.requests) > most):
            return web.json_response({"error": {"message": "Request too large."}}, status=413)
        if fault in ("404", "401", "500"):
            return web.json_response({"error": {"message": f"No batches ({fault})."}}, status=int(fault))
        self.work()
        queued = sum(len(of.requests) for of in self.batches if of.state == "in_progress")
        room = self._settings.batch_room
        no_room = room is not None and queued + len(batch.requests) > room
        if no_room and not self._settings.batch_room_429:
            batch.faults.append("full")
        if fault == "pending":
            said = (
                f"The input file '{batch.file}' is in 'pending' state. Only files with status 'Processed' are accepted."
            )
            return web.json_response({"error": {"code": "invalidFileState", "message": said}}, status=400)
        if fault == "429" or (no_room and self._settings.batch_room_429):
            headers = {"Retry-After": f"{self._settings.retry_after:g}"}
            return web.json_response({"error": {"message": "Too many."}}, status=429, headers=headers)
        self.batches.append(batch)
        self.created_calls += len(batch.requests)
        if fault == "created_500":
            return web.json_response({"error": {"message": "The server had an error."}}, status=500)
        if fault == "created_reset":
            assert request.transport is not None
            request.transport.abort()
            return web.Response(status=499)
        return web.json_response(shown(batch))

    def _faults_of_next(self) -> list[str]:
        script = self._settings.batch_faults
        return list(script.pop(0)) if script else []

    # Answering

    def work(self) -> None:
        """Answers all batches whose time has come, as an endpoint does whether anybody looks or not."""
        for batch in self.batches:
            self._advance(batch)

    def _advance(self, batch: SentBatch) -> None:
        if batch.state != "in_progress":
            return
        if "full" in batch.faults or "failed" in batch.faults:
            batch.state = "failed"
        elif batch.cancelled or ("stuck" not in batch.faults and time.time() - batch.created >= self._settings.batch_s):
            self._answer(batch)

    def _answer(self, batch: SentBatch) -> None:
        half = batch.cancelled
        for place, (mark, body) in enumerate(batch.requests):
            if (half and place % 2) or ("expired" in batch.faults and place % 2):
                batch.results.append(self._unanswered(batch, mark))
            elif "errors" in batch.faults and place % 3 == 0:
                batch.results.append(self._error(batch, mark, 500, "The server had an error."))
            else:
                batch.results.append(self._one(batch, mark, body))
        batch.state = "cancelled" if half else "expired" if "expired" in batch.faults else "completed"
        if "lost" in batch.faults:
            batch.results = [of for place, of in enumerate(batch.results) if place % 3]
        if "reordered" in batch.faults:
            batch.results.reverse()
        if "duplicated" in batch.faults:
            # The same again, and once more as if nobody had answered.
            marks = [mark for mark, _ in batch.requests]
            batch.results = [*batch.results, *batch.results, *(self._unanswered(batch, mark) for mark in marks)]
        if "foreign" in batch.faults:
            batch.results.insert(0, self._unanswered(batch, "somebody-elses-900001"))

    def _one(self, batch: SentBatch, mark: str, body: dict[str, Any]) -> dict[str, Any]:
        path = f"/v1beta/models/{batch.model}:generateContent" if batch.dialect == "gemini" else "/v1/chat/completions"
        status, reply = self._judge.in_batch(batch.dialect, path, body)
        if status != 200:
            return self._error(batch, mark, status, reply)
        batch.answered += 1
        if batch.dialect == "openai":
            response = {"status_code": 200, "request_id": "r", "body": reply}
            return {"id": "batch_req_1", "custom_id": mark, "response": response, "error": None}
        if batch.dialect == "anthropic":
            return {"custom_id": mark, "result": {"type": "succeeded", "message": reply}}
        return {"key": mark, "response": reply}

    @staticmethod
    def _error(batch: SentBatch, mark: str, status: int, error: Any) -> dict[str, Any]:
        told = error if isinstance(error, dict) else {"error": {"message": error}}
        if batch.dialect == "openai":
            return {"custom_id": mark, "response": {"status_code": status, "body": told}, "error": None}
        if batch.dialect == "anthropic":
            kind = {400: "invalid_request_error", 500: "api_error"}[status]
            message = told["error"]["message"]
            wrong = {"type": "error", "error": {"type": kind, "message": message}}
            return {"custom_id": mark, "result": {"type": "errored", "error": wrong}}
        return {"key": mark, "error": {"code": status, "message": told["error"]["message"]}}

    @staticmethod
    def _unanswered(batch: SentBatch, mark: str) -> dict[str, Any]:
        if batch.dialect == "openai":
            code = "batch_cancelled" if batch.cancelled else "batch_expired"
            return {"custom_id": mark, "response": None, "error": {"code": code, "message": "It was not executed."}}
        if batch.dialect == "anthropic":
            return {"custom_id": mark, "result": {"type": "canceled" if batch.cancelled else "expired"}}
        return {"key": mark}

    async def _download(self, request: web.BaseRequest, batch: SentBatch, text: str) -> web.StreamResponse:
        batch.downloads += 1
        if batch.downloads == 1 and "result_500" in batch.faults:
            return web.json_response({"error": {"message": "The server had an error."}}, status=500)
        body = text.encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(body))})
        await response.prepare(request)
        if batch.downloads == 1 and ("result_cut" in batch.faults or "result_hang" in batch.faults):
            await response.write(body[: len(body) // 2])
            await asyncio.sleep(self._settings.hang_s if "result_hang" in batch.faults else 0)
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(body)
        await response.write_eof()
        return response

    def _cancel(self, batch_id: str) -> None:
        batch = self._found(batch_id)
        batch.cancelled = "deaf" not in batch.faults

    def _found(self, batch_id: str) -> SentBatch:
        return next(batch for batch in self.batches if batch.id == batch_id)

    # OpenAI

    async def _openai_upload(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.content.read()
        assert len(raw) == int(request.headers["Content-Length"])
        if self._next("upload"):
            return web.json_response({"error": {"message": "The server had an error."}}, status=500)
        edge = request.headers["Content-Type"].partition("boundary=")[2].encode()
        parts = [part.partition(b"\r\n\r\n") for part in raw.split(b"--" + edge)[1:-1]]
        assert [re.findall(rb'name="(\w+)"', head)[0] for head, _, _ in parts] == [b"purpose", b"file"]
        assert parts[0][2] == b"batch\r\n"
        name = self._new("file-")
        self.files[name] = parts[1][2].removesuffix(b"\r\n")
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _openai_create(self, request: web.BaseRequest) -> web.StreamResponse:
        body = json.loads(await request.content.read())
        classic = request.path.startswith("/openai/batches")
        if classic and not re.fullmatch(r"\d{4}-\d\d-\d\d(-preview)?", request.query.get("api-version", "")):
            return web.json_response({"error": {"code": "404", "message": "Resource not found"}}, status=404)
        route = "/chat/completions" if classic else "/v1/chat/completions"
        assert (body["endpoint"], body["completion_window"]) == (route, "24h")
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines() if line]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", route)}
        requests = [(line["custom_id"], line["body"]) for line in lines]
        assert len({mark for mark, _ in requests}) == len(requests)
        [model] = {of["model"] for _, of in requests}
        batch = SentBatch(
            self._new("batch_"),
            "openai",
            model,
            requests,
            self._faults_of_next(),
            json.dumps(body["metadata"]),
            body["input_file_id"],
        )
        return await self._create(request, batch, self._openai_shown)

    def _openai_shown(self, batch: SentBatch) -> dict[str, Any]:
        ended = batch.state in ("completed", "expired", "cancelled")
        problem = None
        if batch.state == "failed":
            code = "token_limit_exceeded" if "full" in batch.faults else "invalid_json_line"
            problem = {"object": "list", "data": [{"code": code, "message": "Enqueued token limit reached."}]}
            if code == "invalid_json_line":
                problem["data"][0]["message"] = "This line is no JSON."  # type: ignore[index]
        counts = {"total": len(batch.requests), "completed": batch.answered, "failed": 0}
        return {
            "id": batch.id,
            "object": "batch",
            "status": batch.state,
            "input_file_id": batch.file,
            "output_file_id": f"out-{batch.id}" if ended else None,
            "error_file_id": f"err-{batch.id}" if ended else None,
            "errors": problem,
            "metadata": json.loads(batch.label),
            "request_counts": counts,
        }

    async def _openai_look(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        batch = self._found(batch_id)
        self._advance(batch)
        return web.json_response(self._openai_shown(batch))

    async def _openai_list(self, request: web.BaseRequest) -> web.StreamResponse:
        shown = [self._openai_shown(of) for of in reversed(self.batches)]
        return web.json_response(_page(shown, request.query.get("after")))

    async def _openai_cancel(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        self._cancel(batch_id)
        return web.json_response(self._openai_shown(self._found(batch_id)))

    async def _openai_file(self, request: web.BaseRequest, kind: str, batch_id: str) -> web.StreamResponse:
        batch = self._found(batch_id)
        wrong = [of for of in batch.results if not _good(of)]
        lines = wrong if kind == "err" else [of for of in batch.results if _good(of)]
        return await self._download(request, batch, "".join(json.dumps(of) + "\n" for of in lines))

    # Anthropic

    async def _anthropic_create(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.content.read()
        assert len(raw) == int(request.headers["Content-Length"])
        requests = [(of["custom_id"], of["params"]) for of in json.loads(raw)["requests"]]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", mark) for mark, _ in requests)
        assert len({mark for mark, _ in requests}) == len(requests)
        model = requests[0][1]["model"]
        batch = SentBatch(self._new("msgbatch_"), "anthropic", model, requests, self._faults_of_next())
        return await self._create(request, batch, self._anthropic_shown)

    def _anthropic_shown(self, batch: SentBatch) -> dict[str, Any]:
        ended = batch.state in ("completed", "expired", "cancelled")
        left = 0 if ended else len(batch.requests)
        counts = {"processing": left, "succeeded": batch.answered, "errored": 0, "canceled": 0, "expired": 0}
        counts["expired"] = len(batch.requests) - left - batch.answered
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z"),
            "results_url": "https://elsewhere.invalid/results" if ended else None,
        }

    async def _anthropic_look(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        batch = self._found(batch_id)
        self._advance(batch)
        return web.json_response(self._anthropic_shown(batch))

    async def _anthropic_list(self, request: web.BaseRequest) -> web.StreamResponse:
        self.work()
        shown = [self._anthropic_shown(of) for of in reversed(self.batches)]
        return web.json_response(_page(shown, request.query.get("after_id")))

    async def _anthropic_cancel(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        self._cancel(batch_id)
        return web.json_response(self._anthropic_shown(self._found(batch_id)))

    async def _anthropic_results(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        batch = self._found(batch_id)
        return await self._download(request, batch, "".join(json.dumps(of) + "\n" for of in batch.results))

    # Gemini

    async def _gemini_begin(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.headers["X-Goog-Upload-Command"] == "start"
        if self._next("upload"):
            return web.json_response({"error": {"message": "The server had an error."}}, status=500)
        session = self._new("session")
        self._uploads[session] = request.headers["X-Goog-Upload-Header-Content-Length"]
        address = f"http://{request.host}/upload/session/{session}"
        return web.json_response({}, headers={"X-Goog-Upload-URL": address})

    async def _gemini_upload(self, request: web.BaseRequest, session: str) -> web.StreamResponse:
        raw = await request.content.read()
        assert request.headers["X-Goog-Upload-Command"] == "upload, finalize"
        assert len(raw) == int(self._uploads.pop(session)) == int(request.headers["Content-Length"])
        name = self._new("files/in")
        self.files[name] = raw
        return web.json_response({"file": {"name": name}})

    async def _gemini_create(self, request: web.BaseRequest, model: str) -> web.StreamResponse:
        asked = json.loads(await request.content.read())["batch"]
        lines = [json.loads(line) for line in self.files[asked["input_config"]["file_name"]].splitlines() if line]
        requests = [(line["key"], line["request"]) for line in lines]
        batch = SentBatch(
            self._new("batches/b"), "gemini", model, requests, self._faults_of_next(), asked["display_name"]
        )
        return await self._create(request, batch, self._gemini_shown)

    def _gemini_shown(self, batch: SentBatch) -> dict[str, Any]:
        states = {"in_progress": "RUNNING", "completed": "SUCCEEDED", "cancelled": "CANCELLED", "expired": "SUCCEEDED"}
        state = states.get(batch.state, "FAILED")
        ended = state in ("SUCCEEDED", "CANCELLED")
        stats = {"requestCount": str(len(batch.requests)), "successfulRequestCount": str(batch.answered)}
        metadata = {"displayName": batch.label, "state": f"BATCH_STATE_{state}", "batchStats": stats}
        shown: dict[str, Any] = {"name": batch.id, "metadata": metadata, "done": ended or state == "FAILED"}
        if ended:
            shown["response"] = {"responsesFile": f"files/out-{batch.id.rpartition('/')[2]}"}
        if state == "FAILED":
            full = "full" in batch.faults
            shown["error"] = {"code": 429 if full else 400, "message": "Enqueued tokens." if full else "Invalid file."}
        return shown

    async def _gemini_look(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        batch = self._found(f"batches/{name}")
        self._advance(batch)
        return web.json_response(self._gemini_shown(batch))

    async def _gemini_list(self, request: web.BaseRequest) -> web.StreamResponse:
        shown = [self._gemini_shown(of) for of in reversed(self.batches)]
        start = int(request.query.get("pageToken", 0))
        page = {"operations": shown[start : start + 2]}
        return web.json_response({**page, **({"nextPageToken": str(start + 2)} if shown[start + 2 :] else {})})

    async def _gemini_cancel(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        self._cancel(f"batches/{name}")
        return web.json_response({})

    async def _gemini_file(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        batch = self._found(f"batches/{name}")
        return await self._download(request, batch, "".join(json.dumps(of) + "\n" for of in batch.results))

    _routes: tuple[tuple[str, str, Any], ...] = (
        (_ROOT + r"/files", "POST", _openai_upload),
        (_ROOT + r"/files/(out|err)-(\w+)/content", "GET", _openai_file),
        (_ROOT + r"/batches", "POST", _openai_create),
        (_ROOT + r"/batches", "GET", _openai_list),
        (_ROOT + r"/batches/(\w+)", "GET", _openai_look),
        (_ROOT + r"/batches/(\w+)/cancel", "POST", _openai_cancel),
        (r"/v1/messages/batches", "POST", _anthropic_create),
        (r"/v1/messages/batches", "GET", _anthropic_list),
        (r"/v1/messages/batches/(\w+)", "GET", _anthropic_look),
        (r"/v1/messages/batches/(\w+)/cancel", "POST", _anthropic_cancel),
        (r"/v1/messages/batches/(\w+)/results", "GET", _anthropic_results),
        (r"/upload/v1beta/files", "POST", _gemini_begin),
        (r"/upload/session/(\w+)", "POST", _gemini_upload),
        (r"/v1beta/models/([\w.-]+):batchGenerateContent", "POST", _gemini_create),
        (r"/v1beta/batches", "GET", _gemini_list),
        (r"/v1beta/batches/(\w+)", "GET", _gemini_look),
        (r"/v1beta/batches/(\w+):cancel", "POST", _gemini_cancel),
        (r"/download/v1beta/files/out-(\w+):download", "GET", _gemini_file),
    )

    _looks = (_openai_look, _anthropic_look, _gemini_look)


def _good(result: dict[str, Any]) -> bool:
    response = result.get("response")
    return isinstance(response, dict) and response.get("status_code") == 200


def _page(shown: list[dict[str, Any]], after: str | None) -> dict[str, Any]:
    """Two of a list at a time, so that pages are turned."""
    start = next((place + 1 for place, of in enumerate(shown) if of["id"] == after), 0)
    part = shown[start : start + 2]
    more = bool(shown[start + 2 :])
    return {"data": part, "has_more": more, "first_id": None, "last_id": part[-1]["id"] if part else None}


def body_hash(body: dict[str, Any]) -> str:
    """The hash of a request's body as a live call sends it."""
    return hashlib.sha256(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
