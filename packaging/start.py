"""From a fresh clone to a working JudgeNet, with nothing but CPython 3.11 or newer.

    python3 packaging/start.py demo     set up, then the example network judges the example pairs
    python3 packaging/start.py test     set up, then the tests (further arguments go to pytest)
    python3 packaging/start.py setup    set up only

Set-up makes ``.venv`` beside this folder, installs the project there, adds the system libraries that are missing
where they may be installed, and fetches the embedded model. What is in place is left alone. Where there is no screen
for the studio, the demo runs in the terminal.
It uses the standard library only. pip's own settings hold: none are written here.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "judgenet-setup.json"
LOG = VENV / "judgenet-setup.log"
SPEED = ROOT / "packaging" / "demo_speed.py"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

RUNTIME = ["libgomp1"]
SCREEN_FOR_TESTS = ["xvfb", "xauth"]
"""Debian's names of what llama.cpp needs, and of the virtual screen of the tests. What a window needs is looked up
(``judgenet selfcheck screen``)."""
RUNTIME_CHECK = "import xllamacpp"
ROUNDS = 4
"""A library that is missing hides what it needs itself: looking again after an installation ends soon."""

DEMO_SECONDS = 150.0
PROBES_IN_A_PAIR = 12
"""A pair of the demo (12 calls) takes about this many times as long as the call that demo_speed.py measures."""
FEWEST_PAIRS, MOST_PAIRS = 3, 24

DEMO_NOTICE = """
The network's neurons are a very small language model (135 million parameters) on this computer.
It shows the mechanics: evidence, scores, layers, votes. It does NOT judge well: its verdicts are no better
than a coin. For real judging name an endpoint with a capable model (see README.md).
"""


class SetupError(Exception):
    """Set-up cannot go on; the message says what to do."""


def say(text: str) -> None:
    print(text, flush=True)


def step(text: str) -> None:
    say(f"== {text}")


def run_logged(command: list[str], doing: str) -> int:
    """Runs a command with its output in the log, and a line every 20 seconds so that nobody thinks it hangs."""
    started = last = time.monotonic()
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"\n$ {' '.join(command)}\n")
        log.flush()
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                time.sleep(0.2)
                if time.monotonic() - last >= 20:
                    last = time.monotonic()
                    say(f"   {doing}: {last - started:.0f} s")
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process.returncode


def log_tail(lines: int = 12) -> str:
    text = LOG.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = [line for line in text if line.strip() and "is ignored: it is neither a file" not in line]
    return "\n".join("   | " + line for line in kept[-lines:])


# --- Python environment ----------------------------------------------------------------------------------


def wanted_stamp(dev: bool) -> dict[str, object]:
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return {"pyproject": project, "python": platform.python_version(), "dev": dev, "place": str(ROOT)}


def is_current(dev: bool) -> bool:
    """Whether ``.venv`` already holds what is wanted; the tools of a developer include those of a user."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return PYTHON.exists() and stamp in (wanted_stamp(dev), wanted_stamp(True))


def make_environment(dev: bool) -> None:
    if is_current(dev):
        step("Python environment: .venv is up to date")
        return
    step(f"Python environment: .venv with CPython {platform.python_version()}")
    reusable = False
    with contextlib.suppress(OSError, ValueError):
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        reusable = all(stamp[key] == wanted_stamp(dev)[key] for key in ("python", "place"))
    if not (reusable and PYTHON.exists()):
        if VENV.exists():
            shutil.rmtree(VENV)
        create_venv()
    STAMP.unlink(missing_ok=True)
    started = time.monotonic()
    what = ".[dev]" if dev else "."
    say(f"   installing JudgeNet{' and its test tools' if dev else ''} (about 300 MB to fetch the first time)")
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-e", what]
    if run_logged(command, "installing"):
        raise SetupError(
            f"pip could not install JudgeNet:\n{log_tail()}\n"
            "Check the network and pip's settings (pip config list), then run the same command again.\n"
            f"All that pip said is in {LOG}."
        )
    STAMP.write_text(json.dumps(wanted_stamp(dev), indent=1), encoding="utf-8")
    say(f"   installed in {time.monotonic() - started:.0f} s")


def create_venv() -> None:
    """A virtual environment with pip, also where the system's Python comes without ensurepip (Debian)."""
    try:
        import ensurepip  # noqa: F401

        bare: list[str] = []
    except ImportError:
        bare = ["--without-pip"]
    made = subprocess.run([sys.executable, "-m", "venv", *bare, str(VENV)], cwd=ROOT, capture_output=True, text=True)
    if made.returncode or not PYTHON.exists():
        raise SetupError(
            f"The virtual environment could not be made: {(made.stderr or made.stdout).strip()}\n"
            "On Debian and Ubuntu install python3-venv, then run the same command again."
        )
    if bare:
        command = [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "--no-input", "pip"]
        if run_logged(command, "adding pip"):
            raise SetupError(
                f"pip could not be put into the virtual environment:\n{log_tail()}\n"
                "On Debian and Ubuntu install python3-venv, then run the same command again."
            )


# --- System libraries ------------------------------------------------------------------------------------


def runtime_failure() -> str:
    """Why the runtime of the embedded model does not load; empty where it does."""
    check = subprocess.run([str(PYTHON), "-c", RUNTIME_CHECK], capture_output=True, text=True)
    if not check.returncode:
        return ""
    lines = [line for line in check.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {check.returncode}"


def screen() -> dict[str, Any]:
    """Whether the studio can open a window here, and which libraries and packages Qt lacks."""
    command = [str(PYTHON), str(ROOT / "app"), "selfcheck", "screen", "--json"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    try:
        found: dict[str, Any] = json.loads(told.stdout)
    except ValueError:
        raise SetupError(f"JudgeNet does not start:\n{told.stderr.strip()}") from None
    return found


def lacking(found: dict[str, Any], what: str) -> list[str]:
    """The libraries or packages that some plug-in of Qt lacks."""
    return sorted({name for plugin in found["plugins"] for name in plugin[what]})


def missing_packages(names: list[str]) -> list[str]:
    """Those of some Debian packages that are not installed."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    state = {name: subprocess.run([*query, name], capture_output=True, text=True).stdout for name in names}
    return [name for name in names if state[name] != "installed"]


def privilege() -> list[str] | None:
    """What to put before a command to run it as root without a question; ``None`` where that is not possible."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and not subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode:
        return ["sudo", "-n"]
    return None


def apt_install(names: list[str]) -> bool:
    before = privilege()
    if before is None:
        return False
    say(f"   installing system packages: {' '.join(names)}")
    apt = [*before, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    update = run_logged([*apt, "update"], "reading package lists")
    install = run_logged([*apt, "install", "-y", "--no-install-recommends", *names], "installing packages")
    if install:
        say(f"   apt-get failed (update {update}, install {install}):\n{log_tail(6)}")
    return not install


def add_system_libraries(for_tests: bool) -> None:
    """What llama.cpp needs of a Linux system, Qt for a window on X11 or Wayland, and tests for a virtual screen.

    What cannot be installed here is named in one command. Judging works without Qt, so that its absence only warns.
    """
    if not sys.platform.startswith("linux"):
        return
    apt = bool(shutil.which("apt-get") and shutil.which("dpkg-query"))
    missing = missing_packages(SCREEN_FOR_TESTS) if for_tests and apt else []
    if apt and (wanted := [*missing, *(RUNTIME if runtime_failure() else ())]) and apt_install(wanted):
        missing = []
    found = screen()
    for _ in range(ROUNDS):
        packages = lacking(found, "packages")
        if not (packages and apt and apt_install(packages)):
            break
        found = screen()
    missing += lacking(found, "packages")
    trouble = runtime_failure()
    if trouble:
        raise SetupError(
            f"The embedded model's runtime (llama.cpp) lacks a system library: {trouble}\n"
            f"Debian, Ubuntu: sudo apt-get install {' '.join([*RUNTIME, *missing])}\n"
            "Other systems: the package with GCC's OpenMP library (libgomp). Then run the same command again."
        )
    if libraries := lacking(found, "libraries"):
        step("System libraries: some that windows need are missing. The command line works without them.")
        say(f"   missing: {' '.join(libraries)}")
    else:
        step("System libraries: in place")
    if missing:
        say(f"   to have them: sudo {'apt-get' if apt else 'dnf'} install {' '.join(missing)}")


# --- Model, demo, tests ----------------------------------------------------------------------------------


def call(command: list[str], env: dict[str, str] | None = None) -> int:
    """Runs a command in the foreground. Ctrl+C reaches it as well, and it is left the time to end in its own way."""
    process = subprocess.Popen(command, cwd=ROOT, env=env)
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return process.wait()


def judgenet(*arguments: str) -> int:
    return call([str(PYTHON), str(ROOT / "app"), *arguments])


def fetch_model() -> None:
    step("Embedded model")
    if judgenet("model", "fetch"):
        raise SetupError("The embedded model is missing; the message above says why.")


def set_up(dev: bool) -> None:
    started = time.monotonic()
    make_environment(dev)
    add_system_libraries(for_tests=dev)
    fetch_model()
    say(f"== Set-up done in {time.monotonic() - started:.0f} s")


def pairs_for_this_computer() -> int:
    """How many example pairs the demo model judges here in about three minutes."""
    measured = subprocess.run([str(PYTHON), str(SPEED)], cwd=ROOT, capture_output=True, text=True)
    if measured.returncode:
        raise SetupError(f"The demo model does not run here:\n{measured.stderr.strip()}")
    wanted = int(DEMO_SECONDS / (PROBES_IN_A_PAIR * float(measured.stdout)))
    return min(max(wanted, FEWEST_PAIRS), MOST_PAIRS)


def demo() -> int:
    out = Path("out") / "demo"
    step("Demo: seeing how fast the model is on this computer")
    count = pairs_for_this_computer()
    step(f"Demo: {count} example pairs through 2 layers of 3 judges, both orders, live: about three minutes")
    say(DEMO_NOTICE)
    network = str(Path("examples") / "fixed-roles.judgenet")
    pairs = str(Path("examples") / "general.jsonl")
    code = judgenet("run", network, "--pairs", pairs, "--limit", str(count), "--out", str(out))
    if code:
        say(f"The demo ended early (exit code {code}). Finished calls are kept: the same command goes on from there.")
        return code
    say("\nThese figures show the mechanics, not the quality of judging: the demo model is no better than a coin.")
    say(
        "Here the roles are fixed. examples/widedeep-2x3.judgenet lets the model name them, which wants a better model."
    )
    say(f"For pairs of your own: {BIN.relative_to(ROOT) / 'judgenet'} run --help. To start afresh delete {out}.")
    return 0


def studio() -> int:
    """Opens the studio with the example running; the demo in the terminal where no window can be opened."""
    found = screen()
    if not found["opens"]:
        step(f"Studio: {found['reason']} So the demo runs in the terminal.")
        return demo()
    step("Studio: it opens, and an example network judges the example pairs, live")
    say(DEMO_NOTICE)
    say(f"To open the studio again: {BIN.relative_to(ROOT) / 'judgenet'}")
    return judgenet("--example")


def tests(arguments: list[str]) -> int:
    step("Tests")
    env = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    # A file of tests goes to one process, so that its fixtures serve it once. In the order of the folders the files
    # that take longest (tests/e2e, tests/ui) come first: by the number of tests, one process would end with them.
    # One process more than there are cores: tests of stopped and hanging endpoints mostly wait.
    together = ["-n", str(min(4, (os.cpu_count() or 1) + 1)), "--dist", "loadfile", "--no-loadscope-reorder"]
    return call([str(PYTHON), "-m", "pytest", *together, *arguments], env)


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console without the characters of a text must not end this
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("what", nargs="?", choices=["studio", "demo", "test", "setup"], default="studio")
    options, rest = parser.parse_known_args()
    if rest and options.what != "test":
        parser.error(f"unknown arguments: {' '.join(rest)}")
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs before anything could check it
        say(f"JudgeNet needs CPython 3.11 or newer; this is {platform.python_version()} ({sys.executable}).")
        say("Start this script with a newer one, for example: python3.11 packaging/start.py")
        return 2
    try:
        set_up(dev=options.what in ("test", "setup"))
        if options.what == "studio":
            return studio()
        if options.what == "demo":
            return demo()
        if options.what == "test":
            return tests(rest)
        return 0
    except SetupError as error:
        say(f"\n{error}")
        return 1
    except KeyboardInterrupt:
        say("\nInterrupted. The same command goes on from here.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
