"""The embedded model as an endpoint: llama.cpp's server in a child process, on this machine alone.

A process of its own, because loading a model holds the interpreter's lock for seconds, and because native
code that crashes must not take the program with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from judgenet.children import child_command
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.schemas import ReplyForm
from judgenet.engine.client import HttpEndpoint
from judgenet.engine.embedded_model import MODEL_NAME, ModelError, locate_model, model_name
from judgenet.engine.ports import (
    CallFailed,
    Capabilities,
    ChatReply,
    ChatRequest,
    EndpointState,
    EndpointStopped,
    OnState,
    OnText,
)

__all__ = ["MODEL_NAME", "EmbeddedEndpoint", "EmbeddedServer", "EmbeddedServerError", "default_threads", "model_name"]

_STDERR_KEPT = 16_384
_FIRST, _LAST = slice(2), slice(-3, None)
"""A load that fails names its cause first, a crash last."""


class EmbeddedServerError(RuntimeError):
    """The server did not start, or ended; the message holds the end of its error output."""


def default_threads() -> int:
    """One thread fewer than this process may use cores: with all of them a busy machine is slower."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


class EmbeddedServer:
    """The child process that serves one model over HTTP on 127.0.0.1, behind a random key.

    ``model`` is a GGUF, ``None`` the embedded model. ``context`` is the length of its window in tokens,
    ``cache_mib`` the memory for prompts that it may meet again. The child ends with :meth:`stop`, and also
    when this process ends in whatever way.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        threads: int | None = None,
        context: int = 8192,
        cache_mib: int = 512,
        start_timeout: float = 180.0,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self.model = model
        self.model_name = model_name(model)
        self._settings = {"threads": threads or default_threads(), "context": context, "cache_mib": cache_mib}
        self._start_timeout = start_timeout
        self._command = command or child_command("model-server")
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = b""
        self._listener: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the child process lives."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> tuple[str, str]:
        """Starts the child and returns its base URL and key as soon as it answers.

        :raises ModelError: there is no model file.
        :raises EmbeddedServerError: the server did not come up in ``start_timeout`` seconds, or ended.
        """
        self.stop()
        path = await asyncio.to_thread(locate_model, self.model)
        key = secrets.token_urlsafe(32)
        process = self._spawn()
        settings = {**self._settings, "model": str(path), "name": self.model_name, "api_key": key}
        try:
            async with asyncio.timeout(self._start_timeout):
                answer = await asyncio.to_thread(_handshake, process, settings)
        except TimeoutError:
            self.stop()
            raise EmbeddedServerError(
                f"The model server was not ready within {self._start_timeout:g} s for {path.name}.{self._said(_LAST)}"
            ) from None
        except BaseException:
            self.stop()
            raise
        if "ready" in answer:
            return answer["ready"], key
        self.stop()
        why = answer.get("failed") or f"it ended ({_exit(process.returncode)})"
        if "libgomp" in why:
            why += ". Install that library (Debian, Ubuntu: apt-get install libgomp1)"
        raise EmbeddedServerError(
            f"The model server could not load {path.name}: {why.rstrip('.')}.{self._said(_FIRST)}"
        )

    def stop(self) -> None:
        """Ends the child. May be called at any time, also twice. It waits for milliseconds only, so that it needs
        no loop and nothing can interrupt it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()  # it holds no state worth an orderly end
        process.wait()
        self._hear_out()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    async def obituary(self, within: float = 1.0) -> str | None:
        """How the child ended, with the end of its error output; ``None`` where it still runs after ``within``
        seconds."""
        if self._process is None:
            return "The model server is not running."
        try:
            code = await asyncio.to_thread(self._process.wait, within)
        except subprocess.TimeoutExpired:
            return None
        self._hear_out()
        return f"The model server ended ({_exit(code)}).{self._said(_LAST)}"

    def _spawn(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert process.stderr is not None
        self._process = process
        self._stderr = b""
        self._listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._listener.start()
        return process

    def _listen(self, stderr: IO[bytes]) -> None:
        with stderr:
            while piece := os.read(stderr.fileno(), 4096):
                self._stderr = (self._stderr + piece)[-_STDERR_KEPT:]

    def _hear_out(self) -> None:
        """Waits for the rest of an ended child's error output."""
        if self._listener is not None:
            self._listener.join(timeout=1.0)

    def _said(self, lines: slice) -> str:
        """Some lines of the child's standard error, as a sentence to append to a message."""
        text = [line.strip() for line in self._stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        return " It said: " + " | ".join(text[lines]) if text else ""


class EmbeddedEndpoint:
    """The embedded model, or another GGUF (the profile's ``source``), as an endpoint (``ports.Endpoint``).

    The first call starts the server. A server that crashed is started once more and the call put again; a second
    crash without an answer in between stops the endpoint. ``server`` makes the server that is run.
    """

    concurrency = 1

    def __init__(
        self,
        profile: EndpointProfile,
        *,
        capabilities: Capabilities | None = None,
        on_state: OnState | None = None,
        server: Callable[[str | None], EmbeddedServer] = EmbeddedServer,
    ) -> None:
        self.name = profile.name
        self._profile = profile
        self._capabilities = capabilities
        self._on_state = on_state
        self._server = server(profile.source)
        self._http: HttpEndpoint | None = None
        self._starting = asyncio.Lock()
        self._crashed = False

    def form(self, model: str) -> ReplyForm:
        """How replies are asked for; llama.cpp knows schemas."""
        if self._http is not None:
            return self._http.form(model)
        return "text" if self._profile.structured == "never" else "json"

    def known(self, model: str) -> bool:
        """True when a call has succeeded since the server was started."""
        return self._http is not None and self._http.known(model)

    @property
    def away_for(self) -> float:
        """Seconds since the server was not reached any more; 0 where it is there."""
        return 0.0 if self._http is None else self._http.away_for

    def learned(self, model: str) -> dict[str, Any]:
        """What the server refuses of requests, for the run's record."""
        return {} if self._http is None else self._http.learned(model)

    def pause(self) -> None:
        """Nothing to hold back: a call is put once."""

    def resume(self) -> None:
        """Tries again after a stop."""
        self._crashed = False
        if self._http is not None:
            self._http.resume()

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """Asks the model; see ``ports.Endpoint``."""
        attempts = 0
        while True:
            http = await self._running(attempts)
            attempts += 1
            try:
                reply = await http.chat(request, on_text)
            except CallFailed as failed:
                end = await self._server.obituary() if failed.reason is Reason.NETWORK else None
                if end is None:
                    raise
                if self._crashed:
                    raise self._stopped(end, attempts) from failed
                self._crashed = True
                self._tell("waiting", f"{end} It is started again.")
            else:
                self._crashed = False
                return replace(reply, attempts=attempts)

    async def close(self) -> None:
        """Ends the server."""
        await self._shut()

    async def _running(self, attempts: int) -> HttpEndpoint:
        """The way to the server, started where it does not run."""
        async with self._starting:
            if self._http is not None and self._server.running:
                return self._http
            await self._shut()
            try:
                address, key = await self._server.start()
            except (ModelError, EmbeddedServerError) as error:
                raise self._stopped(str(error), attempts) from error
            # No retries: on the same machine they mend nothing, and a server that is gone is started again here.
            local = replace(
                self._profile, kind="openai", base_url=address, concurrency=1, retries=0, patience=0.0, source=None
            )
            self._http = HttpEndpoint(
                local, key=lambda: key, capabilities=self._capabilities, on_state=self._pass_on, thinks=False
            )
            if self._crashed:
                self._tell("open", "The model server runs again.")
            return self._http

    async def _shut(self) -> None:
        self._server.stop()
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    def _stopped(self, message: str, attempts: int) -> EndpointStopped:
        self._tell("stopped", message)
        return EndpointStopped(Reason.SERVER_ERROR, message, attempts=attempts)

    def _pass_on(self, state: EndpointState) -> None:
        # A call that failed may be put again here: what came of it is told then.
        if self._on_state is not None and state.state != "failing":
            self._on_state(state)

    def _tell(self, state: Any, message: str) -> None:
        if self._on_state is not None:
            self._on_state(EndpointState(self.name, state, message))


def _handshake(process: subprocess.Popen[bytes], settings: dict[str, Any]) -> dict[str, str]:
    """Hands the settings over and waits for the answer, which is empty where the child ended without one."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):  # it ended at once
        process.stdin.write(json.dumps(settings).encode("ascii") + b"\n")
        process.stdin.flush()
    line = process.stdout.readline()
    answer: dict[str, str] = json.loads(line) if line.strip() else {}
    if not answer:
        process.wait()
    return answer


def _exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
