"""The batch endpoints of OpenAI (and compatible ones), Anthropic and Gemini.

Requests and answers follow the providers' references of November 2026: OpenAI's "Batch" and "Files", Anthropic's
"Message Batches", Google's "Batch API" and "Files".
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

from judgenet.core.evaluation import Reason
from judgenet.engine.batch_exchange import BatchExchange, BatchFault, Upload
from judgenet.engine.exchange import encoded
from judgenet.engine.providers import common, errors
from judgenet.engine.providers.anthropic import Anthropic
from judgenet.engine.providers.common import Provider
from judgenet.engine.providers.errors import Fault
from judgenet.engine.providers.gemini import Gemini
from judgenet.engine.providers.openai import ROUTE, Azure
from judgenet.store.batch_book import Batch, BatchResult

_NAME: Final = "judgenet"
"""The name of our mark in a batch's metadata."""
_FILE_NOT_READY: Final = re.compile(r"pending' state|files with status 'processed'", re.IGNORECASE)
"""How Azure says that an uploaded file has not been processed yet."""
_PAGES: Final = 20
"""How many pages of an endpoint's batches are searched for a lost one, newest first."""

_CLOCKS_S: Final = 600.0
_LONGEST_SENDING_S: Final = 2 * 3600.0

Lines = Callable[[], Iterable[Sequence[bytes]]]
"""Reads the requests of a batch from the beginning."""


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """The state of a batch at its endpoint.

    ``ended``: all results that will come are there, at the addresses ``results``. ``failed``: it was not processed;
    ``full`` where that is because too much is queued already. ``calls`` and ``done`` are counts, 0 where unknown.
    """

    id: str
    state: Literal["running", "ended", "failed"]
    calls: int = 0
    done: int = 0
    results: tuple[str, ...] = ()
    message: str = ""
    full: bool = False


class BatchApi(Protocol):
    """The batch API of a provider. All methods raise :class:`BatchFault`."""

    most_calls: int
    most_bytes: int

    def line(self, mark: str, body: dict[str, Any]) -> bytes:
        """A request of a batch. ``mark`` comes back with its result."""
        ...

    async def upload(self, batch: Batch, lines: Lines) -> str | None:
        """Uploads the requests, where that is a step of its own; returns the name of the file."""
        ...

    async def create(self, batch: Batch, lines: Lines) -> RemoteBatch:
        """Creates a batch, from the uploaded file where there is one."""
        ...

    async def look(self, batch: Batch) -> RemoteBatch:
        """The state of a batch."""
        ...

    async def find(self, batch: Batch, known: frozenset[str]) -> RemoteBatch | Literal["unclear"] | None:
        """A batch that may have been created although the answer was lost. ``known`` are the ids of our other batches.
        ``unclear``: a batch that may be it must end first."""
        ...

    async def cancel(self, batch: Batch) -> None:
        """Asks the endpoint to stop a batch. Answers made until then can still be fetched."""
        ...

    def results(self, remote: RemoteBatch) -> AsyncIterator[BatchResult]:
        """The results of a batch, in any order."""
        ...


def batch_api(provider: Provider, exchange: BatchExchange) -> BatchApi:
    """The batch endpoint beside a provider's chat endpoint."""
    if isinstance(provider, Anthropic):
        return AnthropicBatches(provider, exchange)
    if isinstance(provider, Gemini):
        return GeminiBatches(provider, exchange)
    return OpenAIBatches(provider, exchange)


def mark_of_call(batch: str, place: int) -> str:
    """Identifies a call within its batch and our batch among all (Anthropic takes ``[a-zA-Z0-9_-]{1,64}``)."""
    return f"{batch}-{place}"


def _place_of(mark: object) -> int | None:
    place = str(mark).rpartition("-")[2]
    return int(place) if place.isdecimal() else None


def _counted(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() else 0


def _flat(lines: Lines) -> Iterator[bytes]:
    for some in lines():
        yield b"\n".join(some) + b"\n"


def _no_batches(exchange: BatchExchange, what: str) -> BatchFault:
    return BatchFault(Fault("retry", Reason.SERVER_ERROR, exchange.say(what, "")))


async def _records(exchange: BatchExchange, address: str) -> AsyncIterator[dict[str, Any]]:
    """The lines of a file of results. A line that is no JSON object is left out: its call counts as unanswered."""
    async with aclosing(exchange.lines(address)) as lines:  # type: ignore[type-var]
        async for line in lines:
            try:
                record = common.parse_json(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def _of_time(record: dict[str, Any], batch: Batch) -> bool:
    """Whether a batch of Anthropic's was created when ours was sent, by clocks that may differ."""
    try:
        created = datetime.fromisoformat(str(record.get("created_at"))).timestamp()
    except ValueError:
        return True
    return batch.sent_at is None or -_CLOCKS_S <= created - batch.sent_at <= _LONGEST_SENDING_S


class OpenAIBatches:
    """``/files`` and ``/batches``. A batch carries our id in its metadata, and its file in its name.

    A batch has at most 50,000 requests to one model and 200 MB (OpenAI; Azure and Groq the same). Azure's differ in
    their address, the key's header, and a file that is not ready at once.
    """

    most_calls = 50_000
    most_bytes = 190_000_000

    def __init__(self, provider: Provider, exchange: BatchExchange) -> None:
        self._exchange = exchange
        address, _, query = provider.url("MODEL", False).partition("?")
        base = address.removesuffix(ROUTE)
        # Azure's classic addresses name the deployment, and its batches stand beside the deployments.
        base = base.partition("/deployments/")[0]
        self._base, self._query = base, f"?{query}" if query else ""
        azure = isinstance(provider, Azure) and not base.endswith("/v1")
        self._route = ROUTE if azure else f"/v1{ROUTE}"

    def _at(self, path: str, query: str = "") -> str:
        joined = "&".join(part for part in (self._query.removeprefix("?"), query) if part)
        return f"{self._base}{path}" + (f"?{joined}" if joined else "")

    def line(self, mark: str, body: dict[str, Any]) -> bytes:
        return encoded({"custom_id": mark, "method": "POST", "url": self._route, "body": body})

    async def upload(self, batch: Batch, lines: Lines) -> str:
        edge = f"judgenet-{batch.id}"
        head = (
            f'--{edge}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{edge}\r\n'
            f'Content-Disposition: form-data; name="file"; filename="{_NAME}-{batch.id}.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        ).encode("ascii")
        tail = f"\r\n--{edge}--\r\n".encode("ascii")

        def pieces() -> Iterator[bytes]:
            yield head
            yield from _flat(lines)
            yield tail

        body = Upload(pieces, len(head) + batch.bytes + batch.calls + len(tail))
        headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
        said = await self._exchange.ask("POST", self._at("/files"), body, headers)
        if not isinstance(said.get("id"), str):
            raise _no_batches(self._exchange, "the uploaded file has no id")
        return str(said["id"])

    async def create(self, batch: Batch, lines: Lines) -> RemoteBatch:
        body = {
            "input_file_id": batch.file,
            "endpoint": self._route,
            "completion_window": "24h",
            "metadata": {_NAME: batch.id},
        }
        try:
            return self._read(await self._exchange.ask("POST", self._at("/batches"), body))
        except BatchFault as problem:
            if _FILE_NOT_READY.search(problem.fault.text) is None:
                raise
            # Azure takes a file in for a while after its upload: the same creation succeeds later.
            raise BatchFault(replace(problem.fault, action="retry"), sent=problem.sent) from None

    async def look(self, batch: Batch) -> RemoteBatch:
        return self._read(await self._exchange.ask("GET", self._at(f"/batches/{quote(batch.remote or '')}")))

    async def find(self, batch: Batch, known: frozenset[str]) -> RemoteBatch | None:
        after = ""
        for _ in range(_PAGES):
            page = await self._exchange.ask("GET", self._at("/batches", f"limit=100{after}"))
            records = page.get("data")
            for record in records if isinstance(records, list) else ():
                metadata = record.get("metadata")
                marked = isinstance(metadata, dict) and metadata.get(_NAME) == batch.id
                if marked or (batch.file is not None and record.get("input_file_id") == batch.file):
                    return self._read(record)
            if not page.get("has_more") or not records:
                return None
            after = f"&after={quote(str(page.get('last_id') or records[-1].get('id')))}"
        return None

    async def cancel(self, batch: Batch) -> None:
        await self._exchange.ask("POST", self._at(f"/batches/{quote(batch.remote or '')}/cancel"), {})

    def _read(self, record: dict[str, Any]) -> RemoteBatch:
        if not isinstance(record.get("id"), str) or not isinstance(record.get("status"), str):
            raise _no_batches(self._exchange, "the answer names no batch")
        status, counts = record["status"], record.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        total = _counted(counts.get("total"))
        done = _counted(counts.get("completed")) + _counted(counts.get("failed"))
        problems = record.get("errors")
        data = problems.get("data") if isinstance(problems, dict) else None
        first = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
        message = str(first.get("message") or "")
        files = [record.get("output_file_id"), record.get("error_file_id")]
        places = tuple(self._at(f"/files/{quote(file)}/content") for file in files if isinstance(file, str) and file)
        if status == "failed":
            full = first.get("code") == "token_limit_exceeded" or "enqueued" in message.lower()
            return RemoteBatch(record["id"], "failed", total, done, places, message or "the batch failed", full)
        ended = status in ("completed", "expired", "cancelled")
        return RemoteBatch(record["id"], "ended" if ended else "running", total, done, places if ended else ())

    async def results(self, remote: RemoteBatch) -> AsyncIterator[BatchResult]:
        for address in remote.results:
            async for record in _records(self._exchange, address):
                place = _place_of(record.get("custom_id"))
                if place is not None:
                    yield self._result(place, record)

    @staticmethod
    def _result(place: int, record: dict[str, Any]) -> BatchResult:
        response = record.get("response")
        if not isinstance(response, dict) or "body" not in response:
            # batch_expired, batch_cancelled and request_timeout: it was not answered and is not paid for.
            return BatchResult(place, "unanswered", None)
        status = _counted(response.get("status_code")) or 200
        state: Literal["answered", "refused"] = "answered" if 200 <= status < 300 else "refused"
        return BatchResult(place, state, encoded(response["body"]), status)


class AnthropicBatches:
    """``/v1/messages/batches``. The requests are sent with the creation, and a batch carries no mark of its own: a lost
    one is identified by its time and size, and by the marks of its calls once it has ended.

    A batch has at most 100,000 requests and 256 MB.
    """

    most_calls = 100_000
    most_bytes = 240_000_000

    def __init__(self, provider: Anthropic, exchange: BatchExchange) -> None:
        self._exchange = exchange
        self._base = f"{provider.url('', False)}/batches"

    def line(self, mark: str, body: dict[str, Any]) -> bytes:
        return encoded({"custom_id": mark, "params": body})

    async def upload(self, batch: Batch, lines: Lines) -> None:
        return None

    async def create(self, batch: Batch, lines: Lines) -> RemoteBatch:
        head, tail = b'{"requests":[', b"]}"

        def pieces() -> Iterator[bytes]:
            before = head
            for some in lines():
                yield before + b",".join(some)
                before = b","
            yield tail

        body = Upload(pieces, len(head) + batch.bytes + batch.calls - 1 + len(tail))
        return self._read(await self._exchange.ask("POST", self._base, body))

    async def look(self, batch: Batch) -> RemoteBatch:
        return self._read(await self._exchange.ask("GET", f"{self._base}/{quote(batch.remote or '')}"))

    async def find(self, batch: Batch, known: frozenset[str]) -> RemoteBatch | Literal["unclear"] | None:
        unclear = False
        after = ""
        for _ in range(_PAGES):
            page = await self._exchange.ask("GET", f"{self._base}?limit=100{after}")
            records = page.get("data")
            for record in records if isinstance(records, list) else ():
                remote = self._read(record)
                if remote.id in known or remote.calls != batch.calls or not _of_time(record, batch):
                    continue
                if remote.state != "ended":
                    unclear = True
                elif await self._is(remote, batch):
                    return remote
            if not page.get("has_more") or not records:
                break
            after = f"&after_id={quote(str(page.get('last_id') or records[-1].get('id')))}"
        return "unclear" if unclear else None

    async def _is(self, remote: RemoteBatch, batch: Batch) -> bool:
        for address in remote.results:
            async for record in _records(self._exchange, address):
                return str(record.get("custom_id")).startswith(f"{batch.id}-")
        return False

    async def cancel(self, batch: Batch) -> None:
        await self._exchange.ask("POST", f"{self._base}/{quote(batch.remote or '')}/cancel", {})

    def _read(self, record: dict[str, Any]) -> RemoteBatch:
        if not isinstance(record.get("id"), str) or not isinstance(record.get("processing_status"), str):
            raise _no_batches(self._exchange, "the answer names no batch")
        counts = record.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        done = sum(_counted(counts.get(name)) for name in ("succeeded", "errored", "canceled", "expired"))
        ended = record["processing_status"] == "ended"
        # The address is made, not taken: results_url names the API's own host, also behind a proxy.
        places = (f"{self._base}/{quote(record['id'])}/results",) if ended else ()
        total = done + _counted(counts.get("processing"))
        return RemoteBatch(record["id"], "ended" if ended else "running", total, done, places)

    async def results(self, remote: RemoteBatch) -> AsyncIterator[BatchResult]:
        for address in remote.results:
            async for record in _records(self._exchange, address):
                place, result = _place_of(record.get("custom_id")), record.get("result")
                if place is None or not isinstance(result, dict):
                    continue
                if result.get("type") == "succeeded" and isinstance(result.get("message"), dict):
                    yield BatchResult(place, "answered", encoded(result["message"]), 200)
                elif result.get("type") == "errored":
                    error = result.get("error")
                    status = errors.error_of(error).status or 500
                    yield BatchResult(place, "refused", encoded(error), status)
                else:
                    yield BatchResult(place, "unanswered", None)


class GeminiBatches:
    """``models/MODEL:batchGenerateContent`` with a file of requests. A batch carries our id as its display name.

    A file has at most 2 GB; batches end after 48 hours at the latest.
    """

    most_calls = 50_000
    most_bytes = 190_000_000

    def __init__(self, provider: Gemini, exchange: BatchExchange) -> None:
        self._exchange = exchange
        self._models = (provider.models_url() or "").partition("?")[0]
        self._base = self._models.removesuffix("/models")

    def _beside(self, word: str) -> str:
        """The address of uploads and downloads: the API's, with a word before its version."""
        parts = urlsplit(self._base)
        before, _, version = parts.path.rpartition("/")
        return urlunsplit(parts._replace(path=f"{before}/{word}/{version}"))

    def line(self, mark: str, body: dict[str, Any]) -> bytes:
        return encoded({"key": mark, "request": body})

    async def upload(self, batch: Batch, lines: Lines) -> str:
        size = batch.bytes + batch.calls
        begin = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        named = {"file": {"display_name": f"{_NAME}-{batch.id}"}}
        said = await self._exchange.ask("POST", f"{self._beside('upload')}/files", named, begin)
        address = said["headers"].get("x-goog-upload-url")
        if not isinstance(address, str):
            raise _no_batches(self._exchange, "the upload has no address")
        if urlsplit(address).netloc != urlsplit(self._base).netloc:
            # The key goes with every request, and to no other host.
            raise _no_batches(self._exchange, "the upload leads to another host")
        send = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        send["Content-Type"] = "application/jsonl"
        said = await self._exchange.ask("POST", address, Upload(lambda: _flat(lines), size), send)
        file = said.get("file")
        if not isinstance(file, dict) or not isinstance(file.get("name"), str):
            raise _no_batches(self._exchange, "the uploaded file has no name")
        return str(file["name"])

    async def create(self, batch: Batch, lines: Lines) -> RemoteBatch:
        name = quote(batch.model.removeprefix("models/"), safe="")
        body = {"batch": {"display_name": f"{_NAME}-{batch.id}", "input_config": {"file_name": batch.file}}}
        return self._read(await self._exchange.ask("POST", f"{self._models}/{name}:batchGenerateContent", body))

    async def look(self, batch: Batch) -> RemoteBatch:
        return self._read(await self._exchange.ask("GET", f"{self._base}/{quote(batch.remote or '')}"))

    async def find(self, batch: Batch, known: frozenset[str]) -> RemoteBatch | None:
        token = ""
        for _ in range(_PAGES):
            page = await self._exchange.ask("GET", f"{self._base}/batches?pageSize=100{token}")
            records = page.get("operations")
            for record in records if isinstance(records, list) else ():
                metadata = record.get("metadata")
                if isinstance(metadata, dict) and metadata.get("displayName") == f"{_NAME}-{batch.id}":
                    return self._read(record)
            if not page.get("nextPageToken"):
                return None
            token = f"&pageToken={quote(str(page['nextPageToken']))}"
        return None

    async def cancel(self, batch: Batch) -> None:
        await self._exchange.ask("POST", f"{self._base}/{quote(batch.remote or '')}:cancel", {})

    def _read(self, record: dict[str, Any]) -> RemoteBatch:
        metadata = record.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if not isinstance(record.get("name"), str):
            raise _no_batches(self._exchange, "the answer names no batch")
        # BATCH_STATE_SUCCEEDED in the reference, JOB_STATE_SUCCEEDED in the guide.
        state = str(metadata.get("state") or "").rpartition("_")[2]
        stats = metadata.get("batchStats")
        stats = stats if isinstance(stats, dict) else {}
        done = sum(_counted(stats.get(f"{name}RequestCount")) for name in ("successful", "failed"))
        total = _counted(stats.get("requestCount"))
        response = record.get("response")
        output = {**(metadata.get("output") or {}), **(response if isinstance(response, dict) else {})}
        file = output.get("responsesFile")
        places: tuple[str, ...] = ()
        if isinstance(file, str) and file:
            places = (f"{self._beside('download')}/{quote(file)}:download?alt=media",)
        if state == "FAILED" and not places:
            info = errors.error_of({"error": record.get("error") or {}})
            return RemoteBatch(
                record["name"], "failed", total, done, (), info.message or "the batch failed", info.status == 429
            )
        ended = state in ("SUCCEEDED", "CANCELLED", "EXPIRED", "FAILED") or bool(record.get("done"))
        return RemoteBatch(record["name"], "ended" if ended else "running", total, done, places if ended else ())

    async def results(self, remote: RemoteBatch) -> AsyncIterator[BatchResult]:
        for address in remote.results:
            async for record in _records(self._exchange, address):
                place = _place_of(record.get("key"))
                if place is None:
                    continue
                if isinstance(record.get("response"), dict):
                    yield BatchResult(place, "answered", encoded(record["response"]), 200)
                elif record.get("error"):
                    status = errors.error_of({"error": record["error"]}).status or 500
                    yield BatchResult(place, "refused", encoded({"error": record["error"]}), status)
                else:
                    yield BatchResult(place, "unanswered", None)
