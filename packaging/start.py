"""Sets JudgeNet up in a fresh clone; needs only CPython 3.11 or newer.

    python3 packaging/start.py demo     set up, then the example network judges the example pairs
    python3 packaging/start.py test     set up, then the tests (further arguments go to pytest)
    python3 packaging/start.py setup    set up only

Set-up creates ``.venv`` beside this folder, installs the project there, adds missing system libraries where it may, and
downloads the embedded model. What is there already is kept. Where there is no screen for the studio, the demo runs in
the terminal. It uses the standard library only, and pip's own settings hold.
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
"""The Debian packages that llama.cpp needs, and those of the virtual screen of the tests. ``judgenet selfcheck screen``
finds those that a window needs."""
RUNTIME_CHECK = "import xllamacpp"
ROUNDS = 4
"""How often missing libraries are looked for: one that is missing hides those that it needs itself."""

DEMO_SECONDS = 150.0
PROBES_IN_A_PAIR = 12
"""A pair of the demo (12 calls) takes about this many times as long as the call in demo_speed.py."""
FEWEST_PAIRS, MOST_PAIRS = 3, 24

DEMO_NOTICE = """
The network's neurons are a very small language model (135 million parameters) on this computer.
It shows how everything works: evidence, scores, layers, votes. It does NOT judge well: its verdicts are no better
than tossing a coin. To judge in earnest, use an endpoint with a capable model (see README.md).
"""


class SetupError(Exception):
    """Set-up cannot continue; the message says what to do."""


def say(text: str) -> None:
    print(text, flush=True)


def step(text: str) -> None:
    say(f"== {text}")


def run_logged(command: list[str], doing: str) -> int:
    """Runs a command with its output in the log, and prints a line every 20 seconds to show that it goes on."""
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
    """Whether ``.venv`` is up to date; a developer's installation includes that of a user."""
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
    say(f"   installing JudgeNet{' and its test tools' if dev else ''} (about 300 MB to download the first time)")
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-e", what]
    if run_logged(command, "installing"):
        raise SetupError(
            f"pip could not install JudgeNet:\n{log_tail()}\n"
            "Check the network and pip's settings (pip config list), then run the same command again.\n"
            f"The whole output of pip is in {LOG}."
        )
    STAMP.write_text(json.dumps(wanted_stamp(dev), indent=1), encoding="utf-8")
    say(f"   installed in {time.monotonic() - started:.0f} s")


def create_venv() -> None:
    """Creates a virtual environment with pip, also where the system's Python has no ensurepip (Debian)."""
    try:
        import ensurepip  # noqa: F401

        bare: list[str] = []
    except ImportError:
        bare = ["--without-pip"]
    created = subprocess.run([sys.executable, "-m", "venv", *bare, str(VENV)], cwd=ROOT, capture_output=True, text=True)
    if created.returncode or not PYTHON.exists():
        raise SetupError(
            f"The virtual environment could not be created: {(created.stderr or created.stdout).strip()}\n"
            "On Debian and Ubuntu install python3-venv, then run the same command again."
        )
    if bare:
        command = [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "--no-input", "pip"]
        if run_logged(command, "adding pip"):
            raise SetupError(
                f"pip could not be installed in the virtual environment:\n{log_tail()}\n"
                "On Debian and Ubuntu install python3-venv, then run the same command again."
            )


# --- System libraries ------------------------------------------------------------------------------------


def runtime_failure() -> str:
    """Why the runtime of the embedded model cannot be loaded; empty where it can."""
    check = subprocess.run([str(PYTHON), "-c", RUNTIME_CHECK], capture_output=True, text=True)
    if not check.returncode:
        return ""
    lines = [line for line in check.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {check.returncode}"


def screen() -> dict[str, Any]:
    """Whether the studio can open a window here, and which libraries and packages Qt lacks."""
    command = [str(PYTHON), str(ROOT / "app"), "selfcheck", "screen", "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    try:
        state: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        raise SetupError(f"JudgeNet does not start:\n{ran.stderr.strip()}") from None
    return state


def lacking(state: dict[str, Any], what: str) -> list[str]:
    """The libraries or packages that any plug-in of Qt lacks."""
    return sorted({name for plugin in state["plugins"] for name in plugin[what]})


def missing_packages(names: list[str]) -> list[str]:
    """Which of some Debian packages are not installed."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    state = {name: subprocess.run([*query, name], capture_output=True, text=True).stdout for name in names}
    return [name for name in names if state[name] != "installed"]


def privilege() -> list[str] | None:
    """The prefix of a command that runs it as root without a password; ``None`` where that is not possible."""
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
    """Installs the Linux libraries for llama.cpp, for Qt on X11 or Wayland, and for the tests' virtual screen.

    What cannot be installed is named in one command. Judging works without Qt, so missing libraries of Qt only warn.
    """
    if not sys.platform.startswith("linux"):
        return
    apt = bool(shutil.which("apt-get") and shutil.which("dpkg-query"))
    missing = missing_packages(SCREEN_FOR_TESTS) if for_tests and apt else []
    if apt and (wanted := [*missing, *(RUNTIME if runtime_failure() else ())]) and apt_install(wanted):
        missing = []
    state = screen()
    for _ in range(ROUNDS):
        packages = lacking(state, "packages")
        if not (packages and apt and apt_install(packages)):
            break
        state = screen()
    missing += lacking(state, "packages")
    trouble = runtime_failure()
    if trouble:
        raise SetupError(
            f"The embedded model's runtime (llama.cpp) lacks a system library: {trouble}\n"
            f"Debian, Ubuntu: sudo apt-get install {' '.join([*RUNTIME, *missing])}\n"
            "Other systems: the package with GCC's OpenMP library (libgomp). Then run the same command again."
        )
    if libraries := lacking(state, "libraries"):
        step("System libraries: some that the studio needs are missing. The command line works without them.")
        say(f"   missing: {' '.join(libraries)}")
    else:
        step("System libraries: in place")
    if missing:
        say(f"   to install them: sudo {'apt-get' if apt else 'dnf'} install {' '.join(missing)}")


# --- Model, demo, tests ----------------------------------------------------------------------------------


def call(command: list[str], env: dict[str, str] | None = None) -> int:
    """Runs a command in the foreground. Ctrl+C reaches it as well, and it may take its time to end."""
    process = subprocess.Popen(command, cwd=ROOT, env=env)
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return process.wait()


def judgenet(*arguments: str) -> int:
    return call([str(PYTHON), str(ROOT / "app"), *arguments])


def fetch_model() -> None:
    step("Embedded model")
    if judgenet("model", "fetch"):
        raise SetupError("The embedded model is missing; see the message above.")


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
    step("Demo: measuring the speed of the model on this computer")
    count = pairs_for_this_computer()
    step(f"Demo: {count} example pairs through 2 layers of 3 judges, both orders, live: about three minutes")
    say(DEMO_NOTICE)
    network = str(Path("examples") / "fixed-roles.judgenet")
    pairs = str(Path("examples") / "general.jsonl")
    code = judgenet("run", network, "--pairs", pairs, "--limit", str(count), "--out", str(out))
    if code:
        say(f"The demo ended early (exit code {code}). Finished calls are kept: the same command continues there.")
        return code
    say("\nThese figures show how it works, not the quality of judging: the demo model is no better than a coin.")
    say(
        "Here the roles are fixed. examples/widedeep-2x3.judgenet lets the model name them, which needs a better model."
    )
    say(f"For your own pairs: {BIN.relative_to(ROOT) / 'judgenet'} run --help. To start again, delete {out}.")
    return 0


def studio() -> int:
    """Opens the studio with the example running, or the demo in the terminal where no window can be opened."""
    state = screen()
    if not state["opens"]:
        step(f"Studio: {state['reason']} So the demo runs in the terminal.")
        return demo()
    step("Studio: it opens while an example network judges the example pairs, live")
    say(DEMO_NOTICE)
    say(f"To open the studio again: {BIN.relative_to(ROOT) / 'judgenet'}")
    return judgenet("--example")


def tests(arguments: list[str]) -> int:
    step("Tests")
    env = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    # A file of tests goes to one process, so that its fixtures are made once. In folder order the slowest files
    # (tests/e2e, tests/ui) come first; ordered by the number of tests, one process would be left with them. There is
    # one process more than cores, as tests of stopped and hanging endpoints mostly wait.
    together = ["-n", str(min(4, (os.cpu_count() or 1) + 1)), "--dist", "loadfile", "--no-loadscope-reorder"]
    return call([str(PYTHON), "-m", "pytest", *together, *arguments], env)


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that lacks some characters must not end this
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
        say("\nInterrupted. The same command continues from here.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
