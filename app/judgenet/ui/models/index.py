"""The type of an index in a Qt model."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex

ModelIndex = QModelIndex | QPersistentModelIndex
