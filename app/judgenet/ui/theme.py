"""The theme: one frozen value with every token of the design, and what Qt makes of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Final, Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from shiboken6 import isValid

from judgenet.ui import tokens
from judgenet.ui.fonts import load_fonts
from judgenet.ui.icons import set_icon_colors
from judgenet.ui.measures import apply_measures, scaled, set_scale, type_font
from judgenet.ui.style import FocusRing, QssImages, render_qss
from judgenet.ui.tokens import COLORS, TYPE, Colors, Density, ThemeName, TypeRole

ThemeChoice = Literal["system", "light", "dark", "contrast"]
"""What the user chose; ``system`` follows the desktop's colour scheme and contrast."""


@cache
def _qcolor(value: str) -> QColor:
    return QColor(value)


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour, size and duration of the interface.

    ``scale`` is the UI scale, 0.8 to 2, for type and measures together; ``dpi`` the screen's logical resolution.
    """

    name: ThemeName = "light"
    colors: Colors = tokens.LIGHT
    scale: float = 1.0
    density: Density = "comfortable"
    reduce_motion: bool = False
    dpi: float = 96.0

    @property
    def dark(self) -> bool:
        return self.name != "light"

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        """A colour by its token; ``alpha`` is its opacity, 0 to 1. The answer is shared where it is opaque."""
        color = _qcolor(getattr(self.colors, token))
        if alpha == 1.0:
            return color
        color = QColor(color)
        color.setAlphaF(alpha)
        return color

    def font(self, role: TypeRole = "body", *, tabular: bool = False) -> QFont:
        """The font of a step of the type scale; ``tabular`` gives figures of one width."""
        return QFont(type_font(role, self.scale, self.dpi, tabular))

    def line_height(self, role: TypeRole) -> int:
        """Line height of a step of the type scale in px."""
        return self.px(TYPE[role].line)

    def px(self, value: float) -> int:
        """A measure of the design in px of this UI scale, never less than 1."""
        return scaled(value, self.scale)

    def gap(self, value: float) -> int:
        """A space between or inside things in px: a quarter less in the compact density."""
        return self.px(value * 0.75 if self.density == "compact" else value)

    @property
    def row(self) -> int:
        """Height of a table row in px."""
        return self.px(tokens.ROW_COMPACT if self.density == "compact" else tokens.ROW)

    @property
    def pair_row(self) -> int:
        """Height of a row in the list of pairs in px."""
        return self.px(tokens.ROW_COMPACT if self.density == "compact" else tokens.PAIR_ROW)

    @property
    def focus_width(self) -> int:
        """Width of the focus ring in px."""
        return self.px(tokens.FOCUS_WIDTH_CONTRAST if self.name == "contrast" else tokens.FOCUS_WIDTH)

    def duration(self, milliseconds: int) -> int:
        """How long a movement takes in ms: 0 where motion is reduced."""
        return 0 if self.reduce_motion else milliseconds

    def palette(self) -> QPalette:
        """Qt's palette of this theme, for what the style sheet does not reach."""
        palette = QPalette()
        roles = {
            QPalette.ColorRole.Window: "bg",
            QPalette.ColorRole.WindowText: "text",
            QPalette.ColorRole.Base: "surface",
            QPalette.ColorRole.AlternateBase: "bg",
            QPalette.ColorRole.Text: "text",
            QPalette.ColorRole.Button: "surface",
            QPalette.ColorRole.ButtonText: "text",
            QPalette.ColorRole.BrightText: "text",
            QPalette.ColorRole.ToolTipBase: "surface",
            QPalette.ColorRole.ToolTipText: "text",
            QPalette.ColorRole.PlaceholderText: "text3",
            QPalette.ColorRole.Highlight: "accentTint",
            QPalette.ColorRole.HighlightedText: "text",
            QPalette.ColorRole.Accent: "accent",
            QPalette.ColorRole.Link: "accent",
            QPalette.ColorRole.LinkVisited: "accent",
            QPalette.ColorRole.Light: "surface",
            QPalette.ColorRole.Midlight: "hover",
            QPalette.ColorRole.Mid: "line",
            QPalette.ColorRole.Dark: "line2",
            QPalette.ColorRole.Shadow: "line2",
        }
        for role, token in roles.items():
            palette.setColor(role, self.color(token))
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text3"))
        return palette


def make_theme(
    name: ThemeName = "light",
    *,
    scale: float = 1.0,
    density: Density = "comfortable",
    reduce_motion: bool = False,
    dpi: float = 96.0,
) -> Theme:
    """A theme by name; ``scale`` is held within the allowed range."""
    low, high = tokens.UI_SCALES
    return Theme(name, COLORS[name], min(high, max(low, scale)), density, reduce_motion, dpi)


_current = Theme()


def current_theme() -> Theme:
    """The theme in force. Who paints or measures asks at that time and keeps nothing: after a change of the theme all
    is painted again."""
    return _current


def set_current_theme(theme: Theme) -> None:
    """Puts a theme in force for colours, icons and measures from now on; windows take it on by their manager."""
    global _current
    _current = theme
    set_icon_colors(theme.colors)
    set_scale(theme.scale, theme.dpi, compact=theme.density == "compact")


def system_theme() -> ThemeName:
    """The theme that the desktop asks for: contrast before dark before light."""
    hints = QGuiApplication.styleHints()
    if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
        return "contrast"
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"


def system_reduces_motion() -> bool:
    """True where the desktop switches animations off. Qt tells it on Windows only."""
    return sys.platform == "win32" and not QApplication.isEffectEnabled(Qt.UIEffect.UI_General)


_SCHEMES: Final = {
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
    "contrast": Qt.ColorScheme.Dark,
}


@dataclass(slots=True)
class _Dressed:
    """A part of the window with the style sheet, and the scale and density that it was last arranged for."""

    widget: QWidget
    room: tuple[float, Density]
    stale: bool = False


def _arranges(widget: QWidget) -> bool:
    """A widget that arranges itself when it is resized, in code of the studio: those of pyqtgraph draw all anew."""
    resized = type(widget).resizeEvent
    return isinstance(resized, FunctionType) and resized.__module__.startswith("judgenet.")


class ThemeWatch:
    """Tells a widget that keeps what it made of a theme when it has come into another one.

    Qt sends each widget a change of style with the style sheet of a new theme, but also where the widget only moved
    to another parent.
    """

    def __init__(self) -> None:
        self._known = current_theme()

    def is_new(self, event: QEvent) -> bool:
        """Whether a change event (``changeEvent``) brings a theme that the widget has not seen yet."""
        if event.type() != QEvent.Type.StyleChange or current_theme() == self._known:
            return False
        self._known = current_theme()
        return True


class ThemeManager(QObject):
    """Keeps the application in one theme, chosen by the user or by the desktop.

    The style sheet belongs to the parts of the window (:meth:`dress`), not to the application: Qt would otherwise style
    every widget of the program anew at each change. A part out of view takes on the new theme when it is shown.

    Signals:
        changed: the new :class:`Theme`; emitted after palette, fonts, icons and the parts in view have changed.
    """

    changed = Signal(object)

    def __init__(
        self,
        app: QApplication,
        *,
        choice: ThemeChoice = "system",
        scale: float = 1.0,
        density: Density = "comfortable",
        reduce_motion: bool | None = None,
    ) -> None:
        super().__init__(app)
        load_fonts()
        self._app = app
        self._choice: ThemeChoice = choice
        self._reduce_motion = reduce_motion
        self._images = QssImages()
        self._sheet = ""
        self._dressed: dict[int, _Dressed] = {}
        self._focus = FocusRing(app, self)
        screen = app.primaryScreen()
        self._dpi = screen.logicalDotsPerInch() if screen is not None else 96.0
        self._theme = make_theme("light", scale=scale, density=density, dpi=self._dpi)
        app.setStyle("Fusion")
        self._settle()
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)
        hints.accessibility().contrastPreferenceChanged.connect(self._follow_system)

    @property
    def theme(self) -> Theme:
        """The theme in force."""
        return self._theme

    @property
    def choice(self) -> ThemeChoice:
        """What the user chose."""
        return self._choice

    def dress(self, widget: QWidget, *, when_shown: bool = False) -> None:
        """Gives a part of the interface the style sheet, now and at each change of the theme.

        The style sheet lets everything in it be painted again. Layouts and widgets take on their measures
        (:func:`~judgenet.ui.measures.measure`). Widgets that arrange themselves by their size receive a new
        scale or density as a resize event. Those that keep what they made of a theme, such as laid-out texts and
        charts, notice a new one by the change of style (:class:`ThemeWatch`). While the part is hidden all of it waits
        until it is shown; ``when_shown`` lets the first style sheet wait as well, for parts that are rarely wanted and
        whose size does not come from their controls.
        """
        key = id(widget)
        self._dressed[key] = _Dressed(widget, self._room, when_shown)
        widget.destroyed.connect(lambda: self._dressed.pop(key, None))
        if not when_shown:
            widget.setStyleSheet(self._sheet)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            part = self._dressed.get(id(watched))
            if part is not None and part.stale:
                self._renew(part)
        return False

    def _renew(self, part: _Dressed) -> None:
        part.stale = False
        part.widget.setStyleSheet(self._sheet)
        apply_measures(part.widget)
        grown = part.room != self._room
        part.room = self._room
        if not grown:
            return
        # Those inside first: what is around them may ask for their size.
        for inner in (*reversed(part.widget.findChildren(QWidget)), part.widget):
            if _arranges(inner):
                target = inner.viewport() if isinstance(inner, QAbstractScrollArea) else inner
                QApplication.sendEvent(target, QResizeEvent(target.size(), target.size()))

    @property
    def _room(self) -> tuple[float, Density]:
        """Scale and density, which decide how much fits into a width."""
        return self._theme.scale, self._theme.density

    def choose(self, choice: ThemeChoice) -> None:
        """Sets light, dark or contrast, or follows the desktop."""
        self._choice = choice
        self._settle()

    def set_scale(self, scale: float) -> None:
        """Sets the UI scale, 0.8 to 2."""
        self._settle(scale=scale)

    def set_density(self, density: Density) -> None:
        """Sets how close things stand."""
        self._settle(density=density)

    def set_reduce_motion(self, reduce: bool | None) -> None:
        """Switches movements off or on; ``None`` follows the desktop."""
        self._reduce_motion = reduce
        self._settle()

    def _follow_system(self) -> None:
        if self._choice == "system":
            self._settle()

    def _settle(self, *, scale: float | None = None, density: Density | None = None) -> None:
        hints = self._app.styleHints()
        if self._choice == "system":
            hints.unsetColorScheme()
            name = system_theme()
        else:
            # Window frames and native dialogs follow this.
            hints.setColorScheme(_SCHEMES[self._choice])
            name = self._choice
        motion = system_reduces_motion() if self._reduce_motion is None else self._reduce_motion
        wanted = make_theme(
            name,
            scale=self._theme.scale if scale is None else scale,
            density=self._theme.density if density is None else density,
            reduce_motion=motion,
            dpi=self._dpi,
        )
        if wanted == self._theme and self._sheet:
            return
        self._theme = wanted
        self._apply()
        self.changed.emit(wanted)

    def _apply(self) -> None:
        theme = self._theme
        set_current_theme(theme)
        self._app.setPalette(theme.palette())
        self._app.setFont(theme.font())
        self._sheet = render_qss(theme.colors, theme.scale, theme.density, theme.dpi, self._images)
        for part in list(self._dressed.values()):
            if not isValid(part.widget):
                continue
            part.stale = True
            if part.widget.isVisible():
                self._renew(part)
        self._focus.set_look(theme.color("accent"), theme.focus_width, theme.px(tokens.FOCUS_GAP), theme.px(8))


def dress(widget: QWidget) -> None:
    """Gives a window of its own, such as a dialog, the style sheet of the theme in force."""
    app = QApplication.instance()
    managers = app.findChildren(ThemeManager) if app is not None else []
    if managers:
        managers[-1].dress(widget)
