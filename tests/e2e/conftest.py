"""A clean place for settings and keys, as in the unit tests."""

from tests.unit.conftest import config, key_store

__all__ = ["config", "key_store"]
