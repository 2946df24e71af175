"""Draws the standard controls in every theme into a folder: python -m tests.shots.controls FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDockWidget,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QSplitter,
    QTableView,
    QTabWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from judgenet.ui.icons import icon
from judgenet.ui.theme import ThemeManager
from judgenet.ui.widgets import Chip, Segment, set_kind


def gallery(manager: ThemeManager) -> QMainWindow:
    """A window with every control that the style sheet knows."""
    window = QMainWindow()
    window.resize(1180, 760)
    page = QWidget()
    page.setProperty("part", "page")
    columns = QHBoxLayout(page)
    columns.setContentsMargins(24, 24, 24, 24)
    columns.setSpacing(16)
    columns.addWidget(_fields(manager))
    columns.addWidget(_views(), 1)
    window.setCentralWidget(page)
    dock = QDockWidget("Dock", window)
    dock.setWidget(QListWidget())
    window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
    window.statusBar().showMessage("No run in progress")
    window.menuBar().addMenu("File")
    return window


def _panel(title: str) -> tuple[QFrame, QVBoxLayout]:
    panel = QFrame()
    panel.setProperty("part", "panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(16, 12, 16, 16)
    column.setSpacing(12)
    head = QLabel(title)
    head.setProperty("type", "section")
    column.addWidget(head)
    return panel, column


def _fields(manager: ThemeManager) -> QWidget:
    panel, column = _panel("Controls")
    row = QHBoxLayout()
    for kind, text in (("primary", "Run"), ("", "Pause"), ("flat", "Fit"), ("outline", "Example"), ("link", "Show")):
        button = QPushButton(icon("run", "onAccent" if kind == "primary" else "text2"), text)
        if kind == "link":
            button.setIcon(icon("tick", "good"))
        set_kind(button, kind)
        button.setObjectName(text)
        row.addWidget(button)
    off = QPushButton("Off")
    off.setEnabled(False)
    row.addWidget(off)
    column.addLayout(row)
    row = QHBoxLayout()
    row.addWidget(Segment("Wiring", [("full", "Full"), ("window", "Window ±1"), ("hand", "By hand")]))
    for name in ("undo", "redo", "search", "trash"):
        tool = QToolButton()
        tool.setIcon(icon(name))
        tool.setEnabled(name != "redo")
        row.addWidget(tool)
    rail = QToolButton()
    rail.setIcon(icon("design", on="accent"))
    rail.setText("Design")
    rail.setCheckable(True)
    rail.setChecked(True)
    rail.setIconSize(QSize(20, 20))
    rail.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
    set_kind(rail, "rail")
    row.addWidget(rail)
    column.addLayout(row)
    combo = QComboBox()
    combo.addItems(["Meridian 70B", "Fjord 8B"])
    column.addWidget(combo)
    row = QHBoxLayout()
    spin, double = QSpinBox(), QDoubleSpinBox()
    spin.setValue(3)
    double.setValue(0.7)
    edit = QLineEdit("1,024")
    edit.setObjectName("edit")
    wrong = QLineEdit("wrong")
    wrong.setProperty("problem", "true")
    for widget in (spin, double, edit, wrong):
        row.addWidget(widget)
    column.addLayout(row)
    row = QHBoxLayout()
    checked, half, plain, radio = QCheckBox("Order"), QCheckBox("Some"), QCheckBox("Format"), QRadioButton("Random")
    checked.setChecked(True)
    half.setTristate(True)
    half.setCheckState(Qt.CheckState.PartiallyChecked)
    radio.setChecked(True)
    for choice in (checked, half, plain, radio, QRadioButton("Targeted")):
        row.addWidget(choice)
    column.addLayout(row)
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setValue(60)
    column.addWidget(slider)
    bar = QProgressBar()
    bar.setValue(34)
    column.addWidget(bar)
    row = QHBoxLayout()
    for verdict in ("a", "b", "tie", None):
        chip = Chip()
        chip.show_verdict(verdict, unscored=verdict is None)  # type: ignore[arg-type]
        row.addWidget(chip)
    tags = {"": "neutral", "accent": "Writing BA", "good": "Counts", "warn": "1 no model", "bad": "failed"}
    for tone, text in tags.items():
        tag = QLabel(text)
        tag.setProperty("part", "tag")
        tag.setProperty("tone", tone)
        row.addWidget(tag)
    key = QLabel("Ctrl K")
    key.setProperty("part", "key")
    row.addWidget(key)
    row.addStretch()
    column.addLayout(row)
    steps = {"headline": "53.6 %", "title": "Completeness", "evidence": "Evidence なぜ空は青いのですか مرحبا"}
    for step, text in steps.items():
        label = QLabel(text)
        label.setProperty("type", step)
        column.addWidget(label)
    prompt = QPlainTextEdit("You compare two responses.\nPerspective: Completeness")
    set_kind(prompt, "prompt")
    prompt.setMaximumHeight(70)
    column.addWidget(prompt)
    column.addStretch()
    return panel


def _views() -> QWidget:
    split = QSplitter(Qt.Orientation.Vertical)
    tabs = QTabWidget()
    table = QTableView()
    model = QStandardItemModel(5, 3)
    model.setHorizontalHeaderLabels(["Aggregation", "Accuracy, %", "n used"])
    for row in range(5):
        for column, text in enumerate(("c2*(all)", "69.5 [63, 76]", "200 of 200")):
            model.setItem(row, column, QStandardItem(text))
    table.setModel(model)
    table.setShowGrid(False)
    table.verticalHeader().hide()
    table.selectRow(1)
    tabs.addTab(table, "Evidence")
    tabs.addTab(QWidget(), "What it read")
    tabs.addTab(QWidget(), "Raw answer")
    split.addWidget(tabs)
    tree = QTreeWidget()
    tree.setHeaderLabels(["Network", "Model"])
    layer = QTreeWidgetItem(["Layer 1", ""])
    for role in ("Accuracy", "Completeness", "Clarity"):
        layer.addChild(QTreeWidgetItem([role, "Meridian 70B"]))
    tree.addTopLevelItem(layer)
    tree.expandAll()
    split.addWidget(tree)
    return split


def main(folder: Path) -> None:
    """Writes the pictures."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    folder.mkdir(parents=True, exist_ok=True)
    manager = ThemeManager(app, choice="light")
    for choice in ("light", "dark", "contrast"):
        manager.choose(choice)
        window = gallery(manager)
        manager.dress(window)
        window.show()
        edit = window.findChild(QLineEdit, "edit")
        edit.setFocus()
        app.processEvents()
        window.grab().save(str(folder / f"controls-{choice}.png"))
        window.close()
    menu = QMenu()
    menu.addAction(icon("copy"), "Copy")
    menu.addAction("Paste").setEnabled(False)
    menu.addSeparator()
    menu.addAction("Delete")
    manager.dress(menu)
    menu.popup(menu.pos())
    app.processEvents()
    menu.grab().save(str(folder / "menu.png"))
    menu.close()
    manager.choose("light")
    manager.set_scale(1.5)
    window = gallery(manager)
    manager.dress(window)
    window.resize(1700, 1100)
    window.show()
    app.processEvents()
    window.grab().save(str(folder / "controls-150.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
