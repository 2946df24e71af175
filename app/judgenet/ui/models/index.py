"""How Qt names a place in a model."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex

ModelIndex = QModelIndex | QPersistentModelIndex
