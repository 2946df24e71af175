"""A layout that breaks its widgets over lines."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Puts widgets side by side, and in further lines where a line is full. A widget that expands takes the rest of its
    line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]  # Qt's way

    def takeAt(self, index: int) -> QLayoutItem:
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        gap = max(0, self.spacing())
        lines: list[list[QLayoutItem]] = []
        used = 0
        for item in self._shown():
            width = item.sizeHint().width()
            if not lines or used + gap + width > inner.width():
                lines.append([])
                used = width
            else:
                used += gap + width
            lines[-1].append(item)
        y = inner.top()
        for line in lines:
            height = max(item.sizeHint().height() for item in line)
            if move:
                self._place(line, QRect(inner.left(), y, inner.width(), height), gap)
            y += height + gap
        return max(0, y - gap) - rect.top() + margins.bottom() if lines else margins.top() + margins.bottom()

    def _place(self, line: list[QLayoutItem], rect: QRect, gap: int) -> None:
        free = rect.width() - sum(item.sizeHint().width() for item in line) - gap * (len(line) - 1)
        x = rect.left()
        for item in line:
            size = QSize(item.sizeHint().width(), item.sizeHint().height())
            if free > 0 and item.expandingDirections() & Qt.Orientation.Horizontal:
                size.setWidth(min(size.width() + free, item.maximumSize().width()))
                free = 0
            top = rect.top() + (rect.height() - size.height()) // 2
            item.setGeometry(QRect(QPoint(x, top), size))
            x += size.width() + gap
