from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest

from judgenet.store import secrets
from judgenet.store.secrets import (
    Key,
    SecretError,
    SecretFilter,
    find_key,
    find_variable,
    forget_key,
    key_in,
    keyring_problem,
    missing_key_message,
    scrub,
    set_session_key,
    store_key,
)
from tests.fakes.keyrings import (
    ForgetfulKeyring,
    HangingKeyring,
    LockedKeyring,
    MemoryKeyring,
    PlaintextKeyring,
)

NAME = "OPENAI_API_KEY"
VALUE = "correct-horse-battery-staple"
"""Has the shape of no provider's key, so that only knowing it can take it out of a text."""


def found(name: str = NAME, folder: Path | None = None) -> Key:
    key = find_key(name, folder)
    assert key is not None
    return key


def test_the_environment_comes_first_then_dotenv_then_the_key_store_then_the_session(
    key_store: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_key(NAME, tmp_path) is None
    set_session_key(NAME, "of-the-session")
    assert (found().reveal(), found().source) == ("of-the-session", "session")
    key_store.set_password("judgenet", NAME, "of-the-key-store")
    assert (found().reveal(), found().source) == ("of-the-key-store", "keyring")
    (tmp_path / ".env").write_text(f"# keys\nexport {NAME}='of-the-file'\n", encoding="utf-8")
    assert (found(NAME, tmp_path).reveal(), found(NAME, tmp_path).source) == ("of-the-file", ".env")
    monkeypatch.setenv(NAME, "of-the-environment")
    assert (found(NAME, tmp_path).reveal(), found(NAME, tmp_path).source) == ("of-the-environment", "environment")


def test_the_key_store_is_not_asked_where_the_environment_has_the_key(
    key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, VALUE)
    found()
    assert key_store.questions == 0


def test_keyring_and_dotenv_are_imported_only_when_needed() -> None:
    code = (
        "import os, sys; os.environ['A_KEY'] = 'value-of-it'\n"
        "from judgenet.store.secrets import find_key\n"
        "assert find_key('A_KEY').reveal() == 'value-of-it'\n"
        "print('keyring' in sys.modules, 'dotenv' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("empty", ["", "   ", "\n"])
def test_an_empty_variable_is_no_key(key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setenv(NAME, empty)
    assert find_key(NAME) is None
    key_store.set_password("judgenet", NAME, VALUE)
    assert found().source == "keyring"


def test_white_space_around_a_pasted_key_is_cut(key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, f" {VALUE}\r\n")
    assert found().reveal() == VALUE


@pytest.mark.parametrize("value", ["first-half\nsecond-half", "ключ-от-всего", "tab\there-and-there"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(SecretError, match=NAME) as caught:
        find_key(NAME)
    assert value not in str(caught.value)
    assert value not in scrub(f"it was {value}")


def test_dotenv_values_are_never_put_into_the_environment(
    key_store: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGENET_TEST_KEY", raising=False)
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfJUDGENET_TEST_KEY=abc-def-ghi\r\nOTHER=1\r\n")
    assert found("JUDGENET_TEST_KEY", tmp_path).reveal() == "abc-def-ghi"
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.environ.get('JUDGENET_TEST_KEY'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == "None"


def test_a_folder_named_dotenv_is_no_such_file(key_store: MemoryKeyring, tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert find_key(NAME, tmp_path) is None


def test_a_dotenv_in_utf16_gives_a_clear_error(key_store: MemoryKeyring, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"{NAME}={VALUE}", encoding="utf-16")
    with pytest.raises(SecretError, match="UTF-8"):
        find_key(NAME, tmp_path)


def test_a_variable_that_is_no_secret_is_found_in_both_places(
    key_store: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://file:1/v1\n", encoding="utf-8")
    assert find_variable("OPENAI_BASE_URL") is None
    assert find_variable("OPENAI_BASE_URL", tmp_path) == "http://file:1/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment:1/v1")
    assert find_variable("OPENAI_BASE_URL", tmp_path) == "http://environment:1/v1"


def test_a_key_shows_its_name_only(key_store: MemoryKeyring) -> None:
    set_session_key(NAME, VALUE)
    key = found()
    for shown in (repr(key), str(key), f"{key}", f"{key!r}", "%s" % key, str([key]), str({"k": key}), format(key)):  # noqa: UP031
        assert NAME in shown
        assert VALUE not in shown
    for copier in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copier(key)
    assert not hasattr(key, "__dict__")


def test_scrub_takes_known_keys_out_of_any_text(key_store: MemoryKeyring) -> None:
    set_session_key(NAME, 'a"b/c+d e')
    text = scrub('header: a"b/c+d e; json: a\\"b/c+d e; address: ?k=a%22b%2Fc%2Bd%20e and a%22b%2Fc%2Bd+e')
    assert text.count(f"[key {NAME}]") == 4
    assert "b/c" not in text
    assert "%2Fc" not in text


def test_scrub_takes_out_the_longer_of_two_keys_first(key_store: MemoryKeyring) -> None:
    set_session_key("SHORT_KEY", "abcdef")
    set_session_key("LONG_KEY", "abcdef-ghijkl")
    assert scrub("abcdef-ghijkl abcdef") == "[key LONG_KEY] [key SHORT_KEY]"


def test_scrub_takes_out_what_only_looks_like_a_key(key_store: MemoryKeyring) -> None:
    assert scrub("Incorrect API key: sk-proj-abcdefghijklmnop1234") == "Incorrect API key: [key]"


@pytest.mark.parametrize("word", ["ollama", "EMPTY", "none", "not-needed"])
def test_a_placeholder_key_of_a_local_server_does_not_spoil_messages(key_store: MemoryKeyring, word: str) -> None:
    set_session_key("LOCAL_KEY", word)
    assert found("LOCAL_KEY").reveal() == word
    assert scrub(f"{word} answered") == f"{word} answered"


def test_a_forgotten_key_is_still_taken_out_of_texts(key_store: MemoryKeyring) -> None:
    set_session_key(NAME, VALUE)
    assert forget_key(NAME)
    assert find_key(NAME) is None
    assert VALUE not in scrub(f"late message with {VALUE}")


def test_logs_hold_no_key_in_message_arguments_or_traceback(key_store: MemoryKeyring) -> None:
    set_session_key(NAME, VALUE)
    lines: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Handler()
    handler.addFilter(SecretFilter())
    log = logging.getLogger("judgenet.test.secrets.child")
    log.addHandler(handler)
    log.propagate = False
    try:
        log.warning("sent %s to %s", VALUE, "host")
        log.warning(f"sent {VALUE}")
        log.warning("bad arguments %d", VALUE)
        try:
            raise RuntimeError(f"401 for {VALUE}")
        except RuntimeError:
            log.exception("failed with %r", found())
    finally:
        log.removeHandler(handler)
    assert len(lines) == 4
    text = "\n".join(lines)
    assert VALUE not in text
    assert "RuntimeError: 401 for [key OPENAI_API_KEY]" in text
    assert "sent [key OPENAI_API_KEY] to host" in text


def test_a_key_is_stored_in_the_key_store_and_forgotten(key_store: MemoryKeyring) -> None:
    store_key(NAME, f"{VALUE}\n")
    assert key_store.kept == {("judgenet", NAME): VALUE}
    assert found().source == "keyring"
    assert forget_key(NAME) is True
    assert key_store.kept == {}
    assert forget_key(NAME) is False


@pytest.mark.parametrize("name", ["", "two words", "sk-proj-abcdefghijklmnop1234", "0123456789abcdef0123456789abcdef"])
def test_a_name_that_is_none_is_refused_and_not_repeated(key_store: MemoryKeyring, name: str) -> None:
    for put in (store_key, set_session_key):
        with pytest.raises(SecretError, match="OPENAI_API_KEY") as caught:
            put(name, VALUE)
        assert not name or name not in str(caught.value)


def test_a_missing_key_store_is_passed_over_and_explained(key_store: MemoryKeyring) -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    assert find_key(NAME) is None
    assert "no key store" in (keyring_problem() or "")
    with pytest.raises(
        SecretError, match=r"was not stored.*no key store.*environment variable OPENAI_API_KEY"
    ) as caught:
        store_key(NAME, VALUE)
    assert VALUE not in "".join(traceback.format_exception(caught.value))
    set_session_key(NAME, VALUE)
    assert found().source == "session"
    assert forget_key(NAME) is True


def test_a_locked_key_store_is_passed_over_and_explained_without_the_key(key_store: MemoryKeyring) -> None:
    keyring.set_keyring(LockedKeyring())
    set_session_key(NAME, VALUE)
    assert found().source == "session"
    assert "locked" in (keyring_problem() or "")
    with pytest.raises(SecretError) as caught:
        store_key(NAME, VALUE)
    assert "could not write" in str(caught.value)
    assert VALUE not in "".join(traceback.format_exception(caught.value))


def test_a_key_store_that_never_answers_is_given_up_once(
    key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "KEYRING_SECONDS", 0.05)
    hanging = HangingKeyring()
    keyring.set_keyring(hanging)
    assert find_key(NAME) is None
    assert find_key("ANTHROPIC_API_KEY") is None
    assert "did not answer" in (keyring_problem() or "")
    assert hanging.questions == 1
    hanging.released.set()


def test_a_missing_keyring_package_is_explained(key_store: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert find_key(NAME) is None
    assert "not installed" in (keyring_problem() or "")


@pytest.mark.parametrize(
    ("backend", "words"), [(PlaintextKeyring, "plain text"), (ForgetfulKeyring, "did not keep it")]
)
def test_a_key_is_not_left_where_it_is_not_safe(
    key_store: MemoryKeyring, backend: type[MemoryKeyring], words: str
) -> None:
    store = backend()
    keyring.set_keyring(store)
    with pytest.raises(SecretError, match=words):
        store_key(NAME, VALUE)
    assert store.kept == {}


def test_the_message_for_a_missing_key_says_where_it_looked_and_what_to_do(
    key_store: MemoryKeyring, tmp_path: Path
) -> None:
    message = missing_key_message(NAME, tmp_path)
    assert f"There is no API key {NAME}" in message
    assert str(tmp_path / ".env") in message
    assert f"Set the environment variable {NAME}" in message


def test_a_known_key_is_seen_in_a_text_for_a_file(key_store: MemoryKeyring) -> None:
    set_session_key(NAME, VALUE)
    set_session_key("LOCAL_KEY", "test")
    assert key_in(f'{{"prompt": "say {VALUE}"}}') == NAME
    assert key_in('{"prompt": "a test"}') is None
