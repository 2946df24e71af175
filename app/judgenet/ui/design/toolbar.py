"""The row of tools above the canvas: size, wiring, orders, tree, zoom."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFormLayout, QHBoxLayout, QMenu, QToolButton, QWidget, QWidgetAction

from judgenet.core.network import WiringKind
from judgenet.core.wording import whole_percent
from judgenet.ui.actions import ActionTable
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.network_forms import MAX_SIZE
from judgenet.ui.elements import SpinBox, add_row, label
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.project_actions import size_words
from judgenet.ui.widgets import Segment, set_kind

_ROOM: Final[tuple[tuple[int, tuple[str, ...]], ...]] = (
    (860, ("orders",)),
    (780, ("minus", "plus")),
    (720, ("wiring",)),
    (440, ("zoom",)),
    (380, ("fit",)),
    (320, ("tree",)),
)
"""For each width of the row, in px at 100 %, the tools that are hidden at that width and below."""
_TIGHT: Final = 440


class SizeMenu(QWidget):
    """Width and depth of the network, in the menu of the size."""

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__()
        self._editor = editor
        self.width_spin = SpinBox(texts.NEURONS_PER_LAYER, 1, MAX_SIZE)
        self.depth_spin = SpinBox(texts.LAYERS, 1, MAX_SIZE)
        self.adaptive = QCheckBox(texts.ONE_NEURON_PER_ROLE)
        form = QFormLayout(self)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, texts.NEURONS_PER_LAYER, self.width_spin)
        add_row(form, texts.LAYERS, self.depth_spin)
        form.addRow(self.adaptive)
        form.addRow(label(texts.SIZE_BY_COMMAND, tone="text2"))
        self.width_spin.valueChanged.connect(editor.set_all_widths)
        self.depth_spin.valueChanged.connect(editor.set_depth)
        self.adaptive.toggled.connect(self._adaptive_toggled)
        editor.context.document.network_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Shows the size of the network."""
        spec = self._editor.spec
        widths = [layer.width for layer in spec.layers]
        for widget in (self.width_spin, self.depth_spin, self.adaptive):
            widget.blockSignals(True)
        self.width_spin.setValue(max((width or 1 for width in widths), default=1))
        self.width_spin.setEnabled(any(width is not None for width in widths))
        self.depth_spin.setValue(spec.depth)
        self.adaptive.setChecked(all(width is None for width in widths))
        self.adaptive.setEnabled(spec.roles.kind != "none")
        for widget in (self.width_spin, self.depth_spin, self.adaptive):
            widget.blockSignals(False)
        self.setEnabled(not self._editor.context.document.read_only)

    def _adaptive_toggled(self, on: bool) -> None:
        self._editor.set_all_widths(None if on else 4)


class DesignToolbar(QWidget):
    """The row of tools above the canvas.

    Signals:
        fit_wanted, zoom_in_wanted, zoom_out_wanted, full_wanted: what the canvas should do; full is 100 %.
    """

    fit_wanted = Signal()
    zoom_in_wanted = Signal()
    zoom_out_wanted = Signal()
    full_wanted = Signal()

    def __init__(self, editor: DesignEditor, actions: ActionTable) -> None:
        super().__init__()
        self._editor = editor
        self._actions = actions
        self.setAccessibleName(texts.CANVAS_TOOLS)
        self.size_button = QToolButton()
        set_kind(self.size_button, "size")
        self.size_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.size_button.setAccessibleName(texts.NETWORK_SIZE)
        self.size_button.setToolTip(texts.NETWORK_SIZE_TIP)
        menu = QMenu(self)
        self.size_menu = SizeMenu(editor)
        holder = QWidgetAction(menu)
        holder.setDefaultWidget(self.size_menu)
        menu.addAction(holder)
        menu.aboutToShow.connect(self.size_menu.refresh)
        self.size_button.setMenu(menu)
        self.wiring = Segment(
            texts.WIRING,
            (("full", texts.FULL_WIRING), ("window", texts.NEXT_WINDOW), ("explicit", texts.CUSTOM_WIRING)),
        )
        self.orders = Segment(texts.ORDERS, (("both", texts.BOTH_ORDERS), ("ab", texts.AB_ONLY)))
        self.tree = QToolButton()
        actions.attach(self.tree, "design.tree")
        self.tree.setIcon(icon("columns", "text2", on="accent"))
        self.minus = QToolButton()
        self.plus = QToolButton()
        self.zoom = QToolButton()
        self.fit = QToolButton()
        self._lay_out(editor, actions)

    def _lay_out(self, editor: DesignEditor, actions: ActionTable) -> None:
        for button, name, what, signal in (
            (self.minus, "minus", texts.ZOOM_OUT, self.zoom_out_wanted),
            (self.zoom, "", texts.ZOOM_TO_FULL, self.full_wanted),
            (self.plus, "plus", texts.ZOOM_IN, self.zoom_in_wanted),
            (self.fit, "fit", texts.FIT_NETWORK, self.fit_wanted),
        ):
            if name:
                button.setIcon(icon(name))
            button.setAccessibleName(what)
            button.setToolTip(what)
            button.clicked.connect(signal)
        self.fit.setText(texts.FIT)
        set_kind(self.fit, "text")
        self.fit.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.zoom.setText(texts.FULL_ZOOM)
        self.more = QToolButton()
        self.more.setIcon(icon("more"))
        self.more.setAccessibleName(texts.MORE_TOOLS)
        self.more.setToolTip(texts.MORE_TOOLS_TIP)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more_menu = QMenu(self)
        self._more_menu.aboutToShow.connect(self._fill_more)
        self.more.setMenu(self._more_menu)
        self.inspector = QToolButton()
        actions.attach(self.inspector, "design.inspector")
        self.inspector.setIcon(icon("inspector", "text2", on="accent"))
        self.inspector.hide()
        row = QHBoxLayout(self)
        row.addWidget(self.size_button)
        row.addWidget(self.wiring)
        row.addWidget(self.orders)
        row.addStretch(1)
        for button in (self.tree, self.minus, self.zoom, self.plus, self.fit, self.more, self.inspector):
            row.addWidget(button)
        self._row = row
        self.wiring.chosen.connect(self._wiring_chosen)
        self.orders.chosen.connect(self._orders_chosen)
        editor.context.document.network_changed.connect(self.refresh)
        editor.context.document.read_only_changed.connect(self.refresh)
        measure(self._row, spacing=12)
        measure(self.zoom, width=56, font="body", tabular=True)
        for button in (self.tree, self.minus, self.plus, self.fit, self.more, self.inspector):
            measure(button, icon=20)
        self._fit_width()
        self.refresh()

    def refresh(self) -> None:
        """Shows the current design."""
        spec = self._editor.spec
        editable = not self._editor.context.document.read_only
        self.size_button.setText(size_words(spec))
        self.size_button.setEnabled(editable)
        wirings = {layer.wiring.kind for layer in spec.layers[1:]}
        windows = {layer.wiring.window for layer in spec.layers[1:] if layer.wiring.kind == "window"}
        reach = f"±{windows.pop()}" if len(windows) == 1 else "" if windows else "±1"
        self.wiring.button("window").setText(texts.window(reach).strip())
        if len(wirings) == 1:
            self.wiring.set_current(wirings.pop())
        else:
            self.wiring.clear()
        self.wiring.setEnabled(editable and spec.depth > 1)
        self.wiring.setToolTip("" if spec.depth > 1 else texts.ONE_LAYER)
        if spec.orders in ("both", "ab"):
            self.orders.set_current(spec.orders)
        else:
            self.orders.clear()
        self.orders.setEnabled(editable)

    def show_zoom(self, zoom: float) -> None:
        """Shows the zoom; 1 is 100 %."""
        self.zoom.setText(whole_percent(zoom))

    def set_canvas(self, shown: bool) -> None:
        """Enables the tools that zoom while the canvas is shown, and not the tree."""
        for button in (self.minus, self.zoom, self.plus, self.fit):
            button.setEnabled(shown)

    def _wiring_chosen(self, key: WiringKind) -> None:
        self._editor.set_wiring(None, key)
        self.refresh()

    def _orders_chosen(self, key: str) -> None:
        self._editor.change_network(texts.CHANGE_ORDERS, orders=key)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        """Hides the tools that do not fit, the least important ones first; the menu of the three dots has them."""
        theme = self._editor.context.theme.theme
        width = self.width() / theme.scale
        for least, widgets in _ROOM:
            for name in widgets:
                getattr(self, name).setVisible(width > least)
        self.more.setVisible(width <= _ROOM[0][0])
        side = theme.px(32 if width > _TIGHT else 12)
        self._row.setContentsMargins(side, theme.px(16), min(side, theme.px(24)), theme.px(8))

    def show_inspector_button(self, shown: bool) -> None:
        """Shows or hides the button that opens the inspector, for windows too narrow to keep it open."""
        self.inspector.setVisible(shown)

    def _fill_more(self) -> None:
        """Fills the menu with the hidden tools."""
        menu = self._more_menu
        menu.clear()
        for before in menu.findChildren(QMenu):
            before.deleteLater()
        for title, segment in ((texts.WIRING, self.wiring), (texts.ORDERS, self.orders)):
            if segment.isHidden():
                choices = menu.addMenu(title)
                choices.setEnabled(segment.isEnabled())
                for button in segment.findChildren(QToolButton):
                    choice = choices.addAction(button.text(), button.click)
                    choice.setCheckable(True)
                    choice.setChecked(button.isChecked())
        if self.tree.isHidden():
            menu.addAction(self._actions.qaction("design.tree"))
        for button in (self.minus, self.plus, self.zoom, self.fit):
            if button.isHidden():
                menu.addAction(button.accessibleName(), button.click).setEnabled(button.isEnabled())
