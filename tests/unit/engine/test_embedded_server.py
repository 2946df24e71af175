"""The model server's process: its start, its end, its secrecy; with llama.cpp itself and with children that fail."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from judgenet.engine.embedded import EmbeddedServer, EmbeddedServerError
from judgenet.engine.embedded_model import ModelError


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"not a model at all")
    return path


def child(code: str) -> tuple[str, ...]:
    """A command that stands in for the server's process."""
    return (sys.executable, "-c", code)


def listens(address: str) -> bool:
    at = urlsplit(address)
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((at.hostname, at.port)) == 0


def what_others_see() -> list[bytes]:
    """Command lines and environments of this process's children."""
    listings = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = {pid for listing in listings for pid in listing.read_text().split()}
    return [Path(f"/proc/{pid}/{name}").read_bytes() for pid in pids for name in ("cmdline", "environ")]


def eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_it_serves_behind_its_key_and_ends_when_told(weights: Path) -> None:
    async def scene() -> None:
        server = EmbeddedServer()
        address, key = await server.start()
        assert server.running
        assert urlsplit(address).hostname == "127.0.0.1"
        body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}
        async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=60) as client:
            refused = await client.post("/v1/chat/completions", json=body)
            assert refused.status_code == 401
            bearer = {"Authorization": f"Bearer {key}"}
            answer = await client.post("/v1/chat/completions", json=body, headers=bearer)
            assert answer.status_code == 200
            assert answer.json()["usage"]["completion_tokens"] == 4
            assert answer.json()["model"] == "SmolLM2-135M-Instruct"
        server.stop()
        server.stop()
        assert not server.running
        assert not listens(address)

    asyncio.run(scene())


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see command lines")
def test_the_key_is_neither_in_the_command_line_nor_in_the_environment(weights: Path) -> None:
    async def scene() -> None:
        server = EmbeddedServer()
        _, key = await server.start()
        seen = what_others_see()
        server.stop()
        assert any(b"embedded_server" in text for text in seen)
        assert not any(key.encode() in text for text in seen)

    asyncio.run(scene())


def test_each_start_has_a_key_and_a_port_of_its_own(weights: Path) -> None:
    async def scene() -> None:
        one, two = EmbeddedServer(), EmbeddedServer()
        (address_one, key_one), (address_two, key_two) = await one.start(), await two.start()
        assert address_one != address_two
        assert key_one != key_two
        address_again, key_again = await one.start()
        assert key_again != key_one
        assert listens(address_again)
        one.stop()
        two.stop()

    asyncio.run(scene())


PARENT = """
import asyncio
from judgenet.engine.embedded import EmbeddedServer

async def main():
    server = EmbeddedServer()
    address, key = await server.start()
    print(address, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_it_does_not_outlive_a_parent_that_is_killed(weights: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        address = parent.stdout.readline().strip()
        assert listens(address)
        parent.kill()
        assert eventually(lambda: not listens(address))


def test_a_file_that_is_no_model_is_refused_with_the_cause(gguf: Path) -> None:
    server = EmbeddedServer(gguf)
    with pytest.raises(EmbeddedServerError, match=r"could not load some\.gguf: .*invalid magic"):
        asyncio.run(server.start())
    assert not server.running


def test_a_missing_file_starts_nothing(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "absent.gguf")
    with pytest.raises(ModelError, match="absent"):
        asyncio.run(server.start())
    assert not server.running


def test_a_child_that_ends_at_once_is_told_with_its_code_and_words(gguf: Path) -> None:
    server = EmbeddedServer(gguf, command=child("import sys; sys.exit('no such processor')"))
    with pytest.raises(EmbeddedServerError, match=r"ended \(exit code 1\).*no such processor"):
        asyncio.run(server.start())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to die of")
def test_a_child_that_crashes_is_told_with_its_signal(gguf: Path) -> None:
    server = EmbeddedServer(gguf, command=child("import os; os.abort()"))
    with pytest.raises(EmbeddedServerError, match="SIGABRT"):
        asyncio.run(server.start())


def test_a_child_that_says_nothing_is_given_up_and_ended(gguf: Path) -> None:
    server = EmbeddedServer(gguf, start_timeout=0.5, command=child("import time; time.sleep(600)"))
    with pytest.raises(EmbeddedServerError, match=r"not ready within 0\.5 s"):
        asyncio.run(server.start())
    assert not server.running


def test_a_child_may_say_a_lot_without_being_blocked(gguf: Path) -> None:
    noisy = (
        "import sys; sys.stdin.readline(); sys.stderr.write('x' * 3_000_000 + 'the last line\\n'); "
        'print(\'{"ready": "http://127.0.0.1:1"}\', flush=True); sys.stdin.read(); sys.exit(3)'
    )

    async def scene() -> None:
        server = EmbeddedServer(gguf, command=child(noisy))
        assert (await server.start())[0] == "http://127.0.0.1:1"
        assert server._process is not None
        assert server._process.stdin is not None
        server._process.stdin.close()
        end = await server.obituary()
        assert "exit code 3" in end
        assert "the last line" in end

    asyncio.run(scene())
