"""The theme, the bundled fonts, the icons, the style sheet and the focus ring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QIcon, QImage, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFocusFrame, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from judgenet.assets import asset
from judgenet.fonts import FILES
from judgenet.ui import tokens
from judgenet.ui.fonts import load_fonts, make_font
from judgenet.ui.icons import IconError, icon, icon_pixmap, icon_svg
from judgenet.ui.style import OWN_FOCUS, QssImages, render_qss
from judgenet.ui.theme import Theme, ThemeManager, ThemeWatch, current_theme, make_theme
from judgenet.ui.widgets import Chip, Segment

pytestmark = pytest.mark.usefixtures("qapp")

RAIL = ("design", "data", "labels", "run", "results", "bias", "report", "settings")


@pytest.fixture
def manager(qapp: QApplication) -> Iterator[ThemeManager]:
    made = ThemeManager(qapp, choice="light")
    yield made
    made.choose("light")
    made.set_scale(1.0)
    made.deleteLater()
    qapp.sendPostedEvents(made, QEvent.Type.DeferredDelete)


def test_a_theme_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        make_theme("light").scale = 2.0  # type: ignore[misc]


def test_the_scale_grows_type_and_measures_together_and_has_limits() -> None:
    double = make_theme("dark", scale=2.0)
    assert double.px(32) == 64
    assert double.font("body").pointSizeF() == pytest.approx(20)
    assert make_theme("dark", scale=9).scale == 2.0
    assert make_theme("dark", scale=0.1).scale == 0.8
    assert make_theme("light", scale=0.8).px(1) == 1


def test_the_compact_density_tightens_rows_and_gaps_and_leaves_type_alone() -> None:
    wide, tight = make_theme(), make_theme(density="compact")
    assert (wide.row, tight.row) == (32, 26)
    assert (wide.gap(16), tight.gap(16)) == (16, 12)
    assert wide.font("body") == tight.font("body")


def test_reduced_motion_makes_all_movements_end_at_once() -> None:
    assert make_theme(reduce_motion=True).duration(180) == 0
    assert make_theme().duration(180) == 180


def test_points_are_those_of_96_dpi_whatever_the_screen_says() -> None:
    """A screen of 72 dpi (macOS) shows a point as one px; 10 pt of the design are 13.3 px."""
    assert make_theme(dpi=72).font("body").pointSizeF() == pytest.approx(13.33, abs=0.01)


def test_the_palette_holds_the_tokens(qapp: QApplication) -> None:
    palette = make_theme("dark").palette()
    assert palette.color(QPalette.ColorRole.Window).name().upper() == tokens.DARK.bg
    assert palette.color(QPalette.ColorRole.Accent).name().upper() == tokens.DARK.accent
    disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled.name().upper() == tokens.DARK.text3


def test_a_choice_is_applied_and_told(manager: ThemeManager, qapp: QApplication, qtbot: QtBot) -> None:
    with qtbot.waitSignal(manager.changed) as told:
        manager.choose("dark")
    assert isinstance(told.args[0], Theme)
    assert told.args[0].name == "dark"
    assert qapp.palette().color(QPalette.ColorRole.Window).name().upper() == tokens.DARK.bg


def test_only_what_is_in_view_is_styled_at_once_and_the_rest_when_it_is_shown(
    manager: ThemeManager, qtbot: QtBot
) -> None:
    """One style sheet for the application would style every widget of the program anew at each step of the scale."""
    taken: list[tuple[str, float]] = []

    class Keeping(QWidget):
        """Keeps what it made of a theme."""

        def __init__(self) -> None:
            self._theme_watch = ThemeWatch()
            super().__init__()

        def changeEvent(self, event: QEvent) -> None:
            super().changeEvent(event)
            if self._theme_watch.is_new(event):
                taken.append((self.objectName(), current_theme().scale))

    seen, hidden = Keeping(), Keeping()
    for name, widget in (("seen", seen), ("hidden", hidden)):
        widget.setObjectName(name)
        qtbot.addWidget(widget)
        manager.dress(widget)
    seen.show()
    manager.set_scale(1.5)
    manager.set_scale(2.0)
    assert taken == [("seen", 1.5), ("seen", 2.0)]
    assert "font-size: 72pt" in seen.styleSheet()
    assert "font-size: 72pt" not in hidden.styleSheet()
    hidden.show()
    assert taken[2:] == [("hidden", 2.0)]
    assert hidden.styleSheet() == seen.styleSheet()
    hidden.hide()
    hidden.show()
    assert len(taken) == 3


def test_the_desktops_scheme_is_followed_only_when_it_is_to_be(
    manager: ThemeManager, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgenet.ui.theme.system_theme", lambda: "dark")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert manager.theme.name == "light"
    manager.choose("system")
    assert manager.theme.name == "dark"
    monkeypatch.setattr("judgenet.ui.theme.system_theme", lambda: "contrast")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert manager.theme.name == "contrast"


def test_nothing_is_told_where_nothing_changes(manager: ThemeManager, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(manager.changed):
        manager.choose("light")


def test_the_fonts_ship_with_their_licences_and_load(qapp: QApplication) -> None:
    assert load_fonts() == load_fonts()
    assert {"Inter", "JetBrains Mono"} <= set(load_fonts())
    for family in ("Inter", "JetBrainsMono"):
        assert "SIL OPEN FONT LICENSE Version 1.1" in asset("fonts", f"{family}-OFL.txt").read_text(encoding="utf-8")
    size = sum(asset("fonts", name).stat().st_size for name in FILES)
    assert size < 1_500_000


@pytest.mark.parametrize("weight", [400, 500, 600, 700])
def test_each_weight_is_a_face_of_its_own_and_figures_can_be_tabular(qapp: QApplication, weight: int) -> None:
    load_fonts()
    font = make_font(40, weight)
    assert QFontInfo(font).family() == "Inter"
    assert QFontInfo(font).weight() == weight
    plain, tabular = QFontMetricsF(font), QFontMetricsF(make_font(40, weight, tabular=True))
    assert plain.horizontalAdvance("1111") < plain.horizontalAdvance("8888") - 1
    assert tabular.horizontalAdvance("1111") == tabular.horizontalAdvance("8888")


def test_every_icon_is_drawn_by_the_rules(qapp: QApplication) -> None:
    names = {path.stem for path in asset("icons").glob("*.svg")}
    assert set(RAIL) <= names
    for name in names:
        source = asset("icons", f"{name}.svg").read_text(encoding="utf-8")
        assert 'viewBox="0 0 20 20"' in source
        assert 'stroke="currentColor"' in source
        assert 'stroke-linecap="round"' in source
        assert 'fill="none"' in source
        picture = icon_pixmap(name, "#FF0000", 20, 1.0).toImage()
        painted = [QColor.fromRgba(picture.pixel(x, y)) for x in range(20) for y in range(20)]
        assert any(color.alpha() > 100 and color.red() > 150 and color.green() < 40 for color in painted), name


def test_an_icons_line_stays_one_and_a_half_px(qapp: QApplication) -> None:
    for size in (16, 20, 24):
        width = re.search(r'stroke-width="([\d.]+)"', icon_svg("plus", "#000000", size))
        assert width is not None
        assert float(width[1]) * size / 20 == pytest.approx(1.5, abs=0.01)


def test_an_icon_is_sharp_on_every_screen_and_follows_the_theme(manager: ThemeManager) -> None:
    shown = icon("stop", "text")
    assert shown.pixmap(QSize(20, 20), 2.0).size() == QSize(40, 40)
    assert shown.pixmap(QSize(20, 20), 1.5).size() == QSize(30, 30)

    def darkest(picture: QImage) -> int:
        opaque = [QColor(picture.pixel(x, y)).lightness() for x in range(20) for y in range(20) if picture.pixel(x, y)]
        return min(opaque)

    assert darkest(shown.pixmap(QSize(20, 20), 1.0).toImage()) < 40
    manager.choose("dark")
    picture = shown.pixmap(QSize(20, 20), 1.0).toImage()
    assert QColor(picture.pixel(10, 5)).lightness() > 200


def test_a_disabled_or_checked_icon_has_its_own_colour(manager: ThemeManager) -> None:
    shown = icon("stop", "text", on="accent")
    on = shown.pixmap(QSize(20, 20), QIcon.Mode.Normal, QIcon.State.On).toImage()
    off = shown.pixmap(QSize(20, 20), QIcon.Mode.Disabled, QIcon.State.Off).toImage()
    assert QColor(on.pixel(10, 5)).blue() > 150
    assert abs(QColor(off.pixel(10, 5)).red() - QColor(tokens.LIGHT.text3).red()) < 30


def test_an_unknown_icon_or_colour_is_an_error_at_once(qapp: QApplication) -> None:
    with pytest.raises(IconError, match="no icon 'nothing'"):
        icon("nothing")
    with pytest.raises(AttributeError):
        icon("run", "no token")


def test_the_style_sheet_has_no_name_left_and_grows_with_the_scale(qapp: QApplication) -> None:
    images = QssImages()
    small = render_qss(tokens.LIGHT, 1.0, "comfortable", 96, images)
    large = render_qss(tokens.LIGHT, 2.0, "comfortable", 96, images)
    assert "@" not in small
    assert "font-size: 36pt" in small
    assert "font-size: 72pt" in large
    assert "border: 1px solid" in small
    assert "border: 2px solid" in large
    assert "border-radius: 0;" in small
    for path in re.findall(r"url\(([^)]+)\)", small):
        assert path.endswith(".svg")
        assert "currentColor" not in open(path, encoding="utf-8").read()  # noqa: SIM115


def test_qt_understands_the_whole_style_sheet(manager: ThemeManager, qtbot: QtBot) -> None:
    """Qt reports a sheet it cannot parse through its messages, which pytest-qt would show; a border proves it."""
    button = QPushButton("Run")
    button.setProperty("kind", "primary")
    qtbot.addWidget(button)
    manager.dress(button)
    button.resize(80, 34)
    picture = button.grab().toImage()
    assert QColor(picture.pixel(8, 17)).name().upper() == tokens.LIGHT.accent


def test_the_focus_has_a_ring_outside_of_the_control(manager: ThemeManager, qtbot: QtBot) -> None:
    window = QWidget()
    column = QVBoxLayout(window)
    column.setContentsMargins(24, 24, 24, 24)
    first, second = QPushButton("One"), QPushButton("Two")
    column.addWidget(first)
    column.addWidget(second)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    second.setFocus(Qt.FocusReason.TabFocusReason)
    frame = window.findChild(QFocusFrame)
    assert frame is not None
    assert frame.widget() is second
    assert frame.isVisible()
    ring = manager.theme.focus_width + manager.theme.px(tokens.FOCUS_GAP)
    assert frame.geometry() == second.geometry().adjusted(-ring, -ring, ring, ring)
    picture = window.grab().toImage()
    middle = second.geometry().center().y()
    assert QColor(picture.pixel(second.x() - ring + 1, middle)).name().upper() == tokens.LIGHT.accent
    assert QColor(picture.pixel(second.x() - 1, middle)).name().upper() != tokens.LIGHT.accent
    first.setProperty(OWN_FOCUS, True)
    first.setFocus()
    assert frame.widget() is None


def test_the_ring_is_wider_where_contrast_is_wanted() -> None:
    assert make_theme("contrast").focus_width == 3
    assert make_theme("light").focus_width == 2


def test_the_ring_survives_a_window_that_closes(manager: ThemeManager, qtbot: QtBot) -> None:
    for _ in range(3):
        window = QWidget()
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        button = QPushButton("One", window)
        window.show()
        button.setFocus()
        window.close()
        QApplication.processEvents()
        manager.choose("dark" if manager.choice == "light" else "light")
    assert manager.theme.name == "dark"


def test_a_segment_tells_what_the_user_chose_and_nothing_else(manager: ThemeManager, qtbot: QtBot) -> None:
    segment = Segment("Wiring", [("full", "Full"), ("window", "Window ±1"), ("hand", "By hand")])
    qtbot.addWidget(segment)
    segment.show()
    assert segment.current == "full"
    with qtbot.assertNotEmitted(segment.chosen):
        segment.set_current("hand")
    with qtbot.waitSignal(segment.chosen) as told:
        qtbot.mouseClick(segment.button("window"), Qt.MouseButton.LeftButton)
    assert told.args == ["window"]
    assert segment.button("window").accessibleName() == "Wiring: Window ±1"
    segment.button("window").setFocus()
    with qtbot.waitSignal(segment.chosen) as told:
        QTest.keyClick(segment.button("window"), Qt.Key.Key_Right)
    assert told.args == ["hand"]


def test_a_chip_names_what_it_shows(manager: ThemeManager, qtbot: QtBot) -> None:
    chip = Chip()
    qtbot.addWidget(chip)
    chip.show_verdict("b")
    assert chip.accessibleName() == "B"
    assert QColor(chip.grab().toImage().pixel(3, 10)).name().upper() == tokens.LIGHT.b
    chip.show_verdict(None, unscored=True)
    assert chip.accessibleName() == "Unscored"
