"""API keys, found by name: environment, ``.env`` beside the project, the system's key store, this session.

Keys are never written to a file, a log or an error: they travel in :class:`Key`, which shows its name only, and
:func:`scrub` takes every value that was found here out of a text.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar
from urllib.parse import quote, quote_plus

from judgenet.core.harmless import harmless
from judgenet.core.keys import key_name_problem, without_keys
from judgenet.store.links import link_out

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "judgenet"
KEYRING_SECONDS = 30.0
"""How long the system's key store may take to answer. A locked one waits for its dialogue, which a machine
without a screen never shows (mitya57/secretstorage#33)."""

KeySource = Literal["environment", ".env", "keyring", "session"]

# Local servers take any text for a key. Such words are no secrets, and taking them out would spoil messages.
_PLACEHOLDERS = frozenset(
    {"", "none", "null", "empty", "ollama", "lm-studio", "lmstudio", "vllm", "local", "not-needed"}
)
_SHORTEST_SECRET = 4
_SHORTEST_IN_FILES = 8

T = TypeVar("T")


class SecretError(Exception):
    """A key that cannot be used, stored or forgotten. The message holds no secret."""


class Key:
    """A secret with its name. Only :meth:`reveal` gives the value; printing, formatting and logging show the
    name, and pickling is refused."""

    __slots__ = ("_value", "name", "source")

    def __init__(self, name: str, value: str, source: KeySource) -> None:
        self.name = name
        self.source = source
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the request's header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"<key {self.name} from {self.source}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key must not be pickled or copied")


_lock = threading.Lock()
_session: dict[str, str] = {}
_seen: dict[str, str] = {}
_keyring_failure: str | None = None
_keyring_hangs = False


def find_key(name: str, folder: Path | None = None) -> Key | None:
    """The key of that name, or ``None`` where there is none.

    Looks in the environment, then in ``.env`` in ``folder`` (the project's), then in the system's key store,
    then among the keys given for this session. A key store that is missing or fails is passed over;
    :func:`keyring_problem` tells why.

    :raises SecretError: where a key is found that no HTTP header can carry, or ``.env`` cannot be read.
    """
    value = os.environ.get(name, "")
    source: KeySource = "environment"
    if not value.strip():
        value, source = _dotenv(folder).get(name, ""), ".env"
    if not value.strip():
        value, source = _from_keyring(name) or "", "keyring"
    if not value.strip():
        value, source = _session.get(name, ""), "session"
    if not value.strip():
        return None
    return Key(name, _usable(name, value), source)


def find_variable(name: str, folder: Path | None = None) -> str | None:
    """A setting that is no secret, from the environment or ``.env`` in ``folder``; ``None`` where unset or empty."""
    return os.environ.get(name, "").strip() or _dotenv(folder).get(name, "").strip() or None


def set_session_key(name: str, value: str) -> None:
    """Keeps a key until the program ends, in memory only.

    :raises SecretError: for a name or value that cannot be one.
    """
    _check_name(name)
    _session[name] = _usable(name, value)


def store_key(name: str, value: str) -> None:
    """Puts a key into the system's key store and checks that it is there.

    :raises SecretError: where there is no key store, it refuses, or it would write plain text to a file.
    """
    _check_name(name)
    value = _usable(name, value)

    def put(backend: KeyringBackend) -> bool:
        if _writes_plain_text(backend):
            raise SecretError("The system's key store would write it to a file as plain text.")
        backend.set_password(SERVICE, name, value)
        return backend.get_password(SERVICE, name) == value

    if not _with_keyring(put):
        reason = _keyring_failure or "The system's key store did not keep it."
        raise SecretError(
            f"The key {name} was not stored. {reason} Set the environment variable {name}, put it into a file .env "
            "beside the project, or give it for this session only."
        )


def forget_key(name: str) -> bool:
    """Takes a key out of the system's key store and this session; ``True`` where it was in one of them.

    :raises SecretError: where the key store fails.
    """

    def delete(backend: KeyringBackend) -> bool:
        if backend.get_password(SERVICE, name) is None:
            return False
        backend.delete_password(SERVICE, name)
        return True

    in_session = _session.pop(name, None) is not None
    in_keyring = _with_keyring(delete)
    if in_keyring is None and _keyring_failure and not in_session:
        raise SecretError(f"The key {name} could not be looked for. {_keyring_failure}")
    return bool(in_keyring) or in_session


def keyring_problem() -> str | None:
    """Why the system's key store cannot be used, or ``None`` where it can."""
    _from_keyring("JUDGENET_PROBE")  # a real question: a locked store shows itself only then
    return _keyring_failure


def missing_key_message(name: str, folder: Path | None = None) -> str:
    """What to tell where :func:`find_key` found nothing: where it looked, and what to do."""
    beside = f", {folder / '.env'}" if folder is not None else ""
    problem = keyring_problem()
    ways = f"Set the environment variable {name}, or put it into a file .env beside the project"
    return (
        f"There is no API key {name}: it is not in the environment{beside}, the system's key store or this session. "
        + (f"{problem} {ways}." if problem else f"{ways}, or store it with: judgenet endpoint key ENDPOINT")
    )


def scrub(text: str) -> str:
    """The text without any key that was found, stored or given here, and without anything that looks like one."""
    with _lock:
        known = sorted(_seen.items(), key=lambda item: -len(item[0]))
    for value, name in known:
        for form in (value, json.dumps(value)[1:-1], quote(value, safe=""), quote_plus(value)):
            text = text.replace(form, f"[key {name}]")
    return without_keys(text, "[key]")


def key_in(text: str) -> str | None:
    """The name of a known key whose value stands in a text that is to be written to a file, or ``None``."""
    with _lock:
        known = list(_seen.items())
    for value, name in known:
        if len(value) >= _SHORTEST_IN_FILES and (value in text or json.dumps(value)[1:-1] in text):
            return name
    return None


class SecretFilter(logging.Filter):
    """Scrubs log records, tracebacks included, and makes them harmless. Belongs on handlers: a logger's filters miss
    its children's records."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = f"{record.msg} {record.args}"
        # A further line is indented, so that no text of others can pass for a record of its own.
        record.msg, record.args = harmless(scrub(message)).replace("\n", "\n    "), None
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        if record.exc_text:
            record.exc_text = harmless(scrub(record.exc_text))
        if record.stack_info:
            record.stack_info = scrub(record.stack_info)
        return True


def _check_name(name: str) -> None:
    problem = key_name_problem(name)
    if problem:
        raise SecretError(f"The name of the key: {problem}.")


def _usable(name: str, value: str) -> str:
    value = value.strip()
    _remember(name, value)
    if not value:
        raise SecretError(f"The key {name} is empty.")
    if not (value.isascii() and value.isprintable()):
        raise SecretError(
            f"The key {name} holds a line break or a character that no HTTP header can carry; copy it again."
        )
    return value


def _remember(name: str, value: str) -> None:
    if len(value) >= _SHORTEST_SECRET and value.lower() not in _PLACEHOLDERS:
        with _lock:
            _seen.setdefault(value, name)


def _dotenv(folder: Path | None) -> dict[str, str]:
    """The variables of ``.env``; they are not put into the environment, so that child processes do not get them."""
    if folder is None or not (path := folder / ".env").is_file():
        return {}
    if (target := link_out(path)) is not None:
        raise SecretError(f"{path} is a link to {target}, outside the project's folder. Put the file itself there.")
    from dotenv import dotenv_values  # only where there is such a file

    try:
        return {name: value for name, value in dotenv_values(path, encoding="utf-8-sig").items() if value}
    except UnicodeDecodeError:
        raise SecretError(f"{path} is not UTF-8. Save it as UTF-8 (PowerShell's '>' writes UTF-16).") from None
    except OSError as error:
        raise SecretError(f"{path} cannot be read: {error.strerror or error}.") from None


def _from_keyring(name: str) -> str | None:
    return _with_keyring(lambda backend: backend.get_password(SERVICE, name))


def _with_keyring(action: Callable[[KeyringBackend], T | None]) -> T | None:
    """The action's result, or ``None`` with the reason in ``_keyring_failure``.

    Runs in a thread of its own, because a locked key store may never answer.
    """
    global _keyring_failure, _keyring_hangs
    if _keyring_hangs:
        return None
    result: list[T | None] = []
    failure: list[str] = []

    def run() -> None:
        try:
            import keyring  # slow, and not needed where the environment has the key

            backend: KeyringBackend = keyring.get_keyring()
            if problem := _backend_problem(backend):
                failure.append(problem)
            else:
                result.append(action(backend))
        except Exception as error:  # backends raise their own: D-Bus, Windows, third parties
            failure.append(_failure_text(error))

    thread = threading.Thread(target=run, name="keyring", daemon=True)
    thread.start()
    thread.join(KEYRING_SECONDS)
    if thread.is_alive():
        _keyring_hangs = True
        failure = [
            f"The system's key store did not answer within {KEYRING_SECONDS:.0f} s; it may be locked and waiting for "
            "a dialogue. It is not asked again in this session."
        ]
    _keyring_failure = failure[0] if failure else None
    return result[0] if result else None


def _failure_text(error: Exception) -> str:
    if isinstance(error, SecretError):
        return str(error)
    if isinstance(error, ImportError):
        return "The package 'keyring' is not installed, so the system's key store is out of reach."
    detail = scrub(str(error).strip().split("\n")[0][:200])
    return f"The system's key store failed ({detail or type(error).__name__})."


def _backend_problem(backend: Any) -> str | None:
    module = type(backend).__module__
    if module == "keyring.backends.fail":
        return (
            "This system has no key store that can be used (on Linux one comes with GNOME Keyring, KWallet or another "
            "Secret Service and needs a desktop session)."
        )
    if module == "keyring.backends.null":
        return "The system's key store is switched off in keyring's configuration."
    return None


def _writes_plain_text(backend: Any) -> bool:
    first = next(iter(getattr(backend, "backends", ())), backend)
    return "plaintext" in type(first).__name__.lower()
