"""Key stores for tests: one that works, one that is locked, one that never answers, one that writes plain text."""

from __future__ import annotations

import threading

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """Keeps passwords in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.questions = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.questions += 1
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("not there")


class LockedKeyring(MemoryKeyring):
    """Refuses everything; its message repeats the password, as a careless backend might."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("the collection is locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked(f"could not write {password!r}")


class HangingKeyring(MemoryKeyring):
    """Waits for a dialogue that nobody sees, until ``released``."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.questions += 1
        self.released.wait()
        return None


class PlaintextKeyring(MemoryKeyring):
    """Named like the backend of keyrings.alt that writes passwords to a file as they are."""


class ForgetfulKeyring(MemoryKeyring):
    """Takes everything and keeps nothing, as keyring's null backend does."""

    def set_password(self, service: str, username: str, password: str) -> None:
        return
