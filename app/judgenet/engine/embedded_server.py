"""The child process of the embedded model: llama.cpp's own HTTP server on this machine alone.

Started by :mod:`judgenet.engine.embedded`; it imports nothing else of the package, so that it starts at once. Its
settings, the key among them, come as one JSON line on standard input; it answers with one JSON line on standard
output, ``{"ready": address}`` or ``{"failed": message}``, and ends when standard input closes. The parent
holds the other end, so the server never outlives it, however the parent ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import IO, Any


def serve(settings: dict[str, Any]) -> object:
    """Loads the model and serves it; returns the running server with its ``listening_address``."""
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["name"]}
    params.api_keys = [settings["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = settings["context"]
    params.n_parallel = 1  # one slot: its prompt cache serves calls that share a prefix, and more gain nothing
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_ram_mib = settings["cache_mib"]
    params.enable_reasoning = 0
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.cors_credentials = False
    params.verbosity = 2
    return xllamacpp.Server(params)


def _own_stdout() -> IO[str]:
    """Takes standard output for the protocol, and sends whatever native code prints there to standard error."""
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(kept, "w", encoding="ascii")


def main() -> None:
    """Serves until standard input closes (see the module)."""
    # Ctrl+C in a terminal reaches the whole group: the parent decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = _own_stdout()

    def tell(message: dict[str, str]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    try:
        server: Any = serve(json.loads(sys.stdin.buffer.readline()))
    except Exception as error:
        tell({"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    tell({"ready": server.listening_address})
    sys.stdin.buffer.read()
    # The server's own end waits for the answer that it is writing, which nobody reads any more.
    os._exit(0)
