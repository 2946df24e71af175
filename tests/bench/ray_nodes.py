"""A Ray cluster of a head and three nodes, joined by each form of address: ``python -m tests.bench.ray_nodes``.

The nodes are processes of this machine with homes and temporary folders of their own. One has, by its environment,
another version of JudgeNet, and must be left out. With the last address a node is killed with all its processes. For
each address a line of JSON says how the run ended, what was asked, and which nodes judged. ``ray://`` needs
``pip install 'ray[client]'``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from judgenet.store.shard_states import ShardReports
from tests.e2e.command import ask, write_pairs
from tests.fakes.judge_server import judge_process

PAIRS = 80
NODES = ("one", "two", "other")
_OTHER_VERSION = "import judgenet.version as v; v.__version__ = '0.0'"
"""What a node runs at the start of each of its processes that has another version."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def node(name: str, root: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A node of Ray as a process group of its own."""
    home = root / name
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "TMPDIR": str(home), "JUDGENET_STATE_DIR": str(home / "state")}
    if name == "other":
        (home / "sitecustomize.py").write_text(_OTHER_VERSION, encoding="utf-8")
        environment["PYTHONPATH"] = os.pathsep.join([str(home), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options, "--temp-dir", str(home / "r"), "--block"]
    with open(root / f"{name}.log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a node with all that it started."""
    if process.poll() is None:
        for pid in [process.pid, *_started_by(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def _started_by(root: int) -> list[int]:
    """The processes that one started, and those that these did."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(path.parent.name))
    started = parents.get(root, [])
    for pid in started:
        started += parents.get(pid, [])
    return started


def workers_of(shards: Path, process: subprocess.Popen[bytes]) -> list[int]:
    """The workers of a node that judge a shard and have asked something."""
    reports = ShardReports(shards)
    reports.look()
    running = (report for report in reports.by_shard.values() if report.state == "running" and report.calls)
    pids = (int(report.worker.rpartition(":")[2]) for report in running)
    started = frozenset(_started_by(process.pid))
    return [pid for pid in pids if pid in started]


def run(study: Path, url: str, address: str, kills: subprocess.Popen[bytes] | None) -> dict[str, Any]:
    """One run from the beginning. ``kills`` is the node that is killed once it judges."""
    shards = study.with_suffix(".shards")
    if shards.exists():
        shards.rename(shards.with_name(f"before-{time.time_ns()}"))
    command = [
        *(sys.executable, "-m", "judgenet", "run", str(study), "--base-url", url, "--model", "judge"),
        *("--engine", "ray", "--address", address, "--shards", "4", "-j", "4", "--json", "-q"),
    ]
    before, ended = ask(url, "stats")["paid"], threading.Event()

    def killer() -> None:
        while kills is not None and not ended.wait(0.1):
            if workers_of(shards, kills):
                kill(kills)
                return

    thread = threading.Thread(target=killer)
    thread.start()
    began = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    ended.set()
    thread.join()
    figures = json.loads(ran.stdout) if ran.stdout.strip() else {}
    return {
        "address": address,
        "code": ran.returncode,
        "finished": figures.get("pairs", {}).get("finished"),
        "asked": ask(url, "stats")["paid"] - before,
        "seconds": round(time.perf_counter() - began, 1),
        "killed": kills is not None and kills.poll() is not None,
        "said": ran.stderr.strip()[:300],
    }


def main() -> None:
    os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    port, client = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="jn", dir="/tmp") as folder, ExitStack() as stack:
        root = Path(folder)
        study = root / "shared" / "study.judgenet"
        study.parent.mkdir()
        url = stack.enter_context(judge_process("--latency", "0.05"))
        pairs = write_pairs(study.parent / "pairs.jsonl", PAIRS)
        made = [sys.executable, "-m", "judgenet", "run", "--pairs", str(pairs), "--base-url", url, "--model", "judge"]
        subprocess.run([*made, "--width", "2", "--out", str(root / "whole"), "-q"], check=True, capture_output=True)
        project = json.loads((root / "whole" / "run.judgenet").read_text(encoding="utf-8"))
        project["pairs"]["files"] = ["pairs.jsonl"]
        study.write_text(json.dumps(project), encoding="utf-8")
        print(f"undivided: {ask(url, 'stats')['paid']:,} asked")
        head = ["--head", "--port", str(port), "--ray-client-server-port", str(client), "--num-cpus", "0"]
        stack.enter_context(node("head", root, *head, "--include-dashboard", "false"))
        time.sleep(12)
        address = f"127.0.0.1:{port}"
        nodes = [stack.enter_context(node(name, root, "--address", address, "--num-cpus", "1")) for name in NODES]
        time.sleep(12)
        addresses = [address]
        if importlib.util.find_spec("grpc") is not None:
            addresses.append(f"ray://127.0.0.1:{client}")
        for each in addresses:
            print(json.dumps(run(study, url, each, nodes[1] if each == addresses[-1] else None)), flush=True)


if __name__ == "__main__":
    main()
