"""A server that writes down all that it is sent, and a project of somebody else's that leads to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from judgenet.core import presets
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec
from judgenet.core.project import PairsSource, Project

SECRET = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY0123456789"


class Listener:
    """A server that writes down all that it is sent and answers as a judge, or with a redirect, or with ``fault``: a
    status and a message."""

    def __init__(self, redirect: str = "") -> None:
        seen = self.seen = list[tuple[dict[str, str], str]]()
        self.fault: tuple[int, str] | None = None
        plain = json.dumps(
            {
                "model": "judge",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": "Score of Response 1: 8\nScore of Response 2: 3"},
                    }
                ],
                "usage": {"prompt_tokens": 5, "completion_tokens": 5},
            }
        ).encode()

        def told() -> tuple[int, bytes]:
            if self.fault is not None:
                return self.fault[0], json.dumps({"error": {"message": self.fault[1]}}).encode()
            return (307 if redirect else 200), plain

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
                status, answer = told()
                self.send_response(status)
                if redirect:
                    self.send_header("location", redirect)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def text(self) -> str:
        """Everything that arrived."""
        return json.dumps(self.seen)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _network(endpoint: str) -> NetworkSpec:
    spec = presets.network(1, 1, roles="none")
    return replace(spec, settings=replace(spec.settings, endpoint=endpoint, model="judge"))


def their_project(
    folder: Path, profile: EndpointProfile, files: Sequence[str] = ("pairs.jsonl",), name: str = "theirs"
) -> Path:
    """A project as somebody else wrote it, by hand: nothing of this program took part."""
    folder.mkdir(exist_ok=True)
    record = {"id": "p1", "question": "What is 1?", "response_a": "One.", "response_b": "Two.", "human": "a"}
    (folder / "pairs.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    source, plain = profile.source, replace(profile, source="there") if profile.source else profile
    project = Project.new(name, _network(profile.name))
    project = replace(project, pairs=PairsSource(("there",)), endpoints=(plain,))
    record = json.loads(project.dumps())
    record["pairs"]["files"] = list(files)
    if source:
        record["endpoints"][profile.name]["source"] = source
    path = folder / f"{name}.judgenet"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path
