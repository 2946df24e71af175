"""The parts around the pages: top bar, rail and status bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.wording import duration, money, money_span, plural, whole_percent
from judgenet.store.shards import ShardsInRun
from judgenet.ui import texts
from judgenet.ui.accessible import PAGE_TAB
from judgenet.ui.actions import ActionTable
from judgenet.ui.document import Document
from judgenet.ui.elements import IconLabel
from judgenet.ui.figures import DesignEstimate
from judgenet.ui.icons import icon
from judgenet.ui.measures import apply_measures, measure
from judgenet.ui.navigation import PageKey
from judgenet.ui.run_progress import Progress
from judgenet.ui.run_state import RunState
from judgenet.ui.runner import Runner
from judgenet.ui.shards.state import ShardsState
from judgenet.ui.tasks import Job, Tasks
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import RAIL, RAIL_NARROW, STATUS_BAR, TOP_BAR
from judgenet.ui.widgets import set_kind

RAIL_PAGES: Final[tuple[tuple[PageKey, str, str], ...]] = (
    ("design", texts.DESIGN, "design"),
    ("data", texts.DATA, "data"),
    ("labels", texts.LABELS, "labels"),
    ("run", texts.RUN, "run"),
    ("results", texts.RESULTS, "results"),
    ("bias", texts.BIAS, "bias"),
    ("report", texts.REPORT, "report"),
)
"""Key, word and icon of the pages on the rail."""

SAVE_WORDS: Final = {"saved": texts.SAVED, "saving": texts.SAVING, "unsaved": texts.SAVING, "failed": texts.NOT_SAVED}


class TopBar(QFrame):
    """Menu, project and how it is saved, undo and redo, the page's own widgets; palette and the primary button.

    Signals:
        palette_wanted: the palette field was clicked.
    """

    palette_wanted = Signal()

    def __init__(self, actions: ActionTable, document: Document, runner: Runner, menu: QMenu) -> None:
        super().__init__()
        self.setProperty("part", "bar")
        self.setAccessibleName(texts.TOP_BAR)
        self._actions = actions
        self._document = document
        self._runner = runner
        self._page_widgets: list[QWidget] = []
        self._primary = "run.start"
        self._kind: Literal["primary", "normal"] = "primary"

        self._make_menu(menu)
        self._make_project(actions)
        self._page_box = QWidget(self)
        self._page_row = QHBoxLayout(self._page_box)
        self._page_row.setContentsMargins(0, 0, 0, 0)

        self._make_palette_field()
        self.primary = QPushButton(self)
        self.pause = QPushButton(self)
        self.stop = QPushButton(texts.STOP, self)
        self.stop.setIcon(icon("stop", "text"))
        self.pause.clicked.connect(self._pause)
        self.primary.clicked.connect(self._do_primary)
        actions.attach(self.stop, "run.stop")
        self.stop.setAccessibleName(texts.STOP)

        self._lay_out()
        document.saved_changed.connect(self.refresh)
        document.project_changed.connect(self.refresh)
        document.read_only_changed.connect(self.refresh)
        runner.changed.connect(self.refresh)
        actions.refreshed.connect(self._refresh_primary)
        self._narrow = False
        self._title = ""
        measure(self, height=TOP_BAR)
        measure(self._row, margins=(0, 0, 12, 0), spacing=8)
        measure(self._page_row, spacing=8)
        measure(self._field_row, margins=(12, 0, 6, 0), spacing=8)
        measure(self._find_key, height=22)
        for tool in (self.menu_button, self.undo, self.redo):
            measure(tool, icon=20)
        for button in (self.primary, self.pause, self.stop):
            measure(button, icon=16)
        self.set_narrow(narrow=False)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._left)
        row.addWidget(self.name)
        row.addWidget(self.state)
        row.addSpacing(8)
        row.addWidget(self.undo)
        row.addWidget(self.redo)
        row.addSpacing(8)
        row.addWidget(self._page_box)
        row.addStretch(1)
        for widget in (self.palette_field, self.pause, self.stop, self.primary):
            row.addWidget(widget)
        self._row = row

    def _make_menu(self, menu: QMenu) -> None:
        self.menu_button = QToolButton(self)
        self.menu_button.setIcon(icon("menu"))
        self.menu_button.setMenu(menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu_button.setAccessibleName(texts.MENU)
        self.menu_button.setToolTip(texts.MENU)
        self._left = QWidget(self)
        left = QHBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.addWidget(self.menu_button, alignment=Qt.AlignmentFlag.AlignCenter)

    def _make_project(self, actions: ActionTable) -> None:
        self.name = QPushButton(self)
        set_kind(self.name, "name")
        self.name.setAccessibleName(texts.NAME_OF_THE_PROJECT)
        self.name.setToolTip(texts.RENAME_THE_PROJECT)
        self.name.clicked.connect(self._rename)
        self.state = QLabel(self)
        self.state.setProperty("tone", "text2")
        self.undo = QToolButton(self)
        self.redo = QToolButton(self)
        actions.attach(self.undo, "edit.undo")
        actions.attach(self.redo, "edit.redo")

    def _make_palette_field(self) -> None:
        self.palette_field = QPushButton(self)
        self.palette_field.setAccessibleName(texts.FIND_OR_DO)
        self.palette_field.setToolTip(texts.COMMAND_PALETTE_TIP)
        self.palette_field.clicked.connect(self.palette_wanted)
        self._find_icon = IconLabel("search")
        self._find_text = QLabel(texts.FIND_OR_DO_HINT, self.palette_field)
        self._find_text.setProperty("tone", "text3")
        self._find_key = QLabel(texts.CTRL_K, self.palette_field)
        self._find_key.setProperty("part", "key")
        field = QHBoxLayout(self.palette_field)
        field.addWidget(self._find_icon)
        field.addWidget(self._find_text, stretch=1)
        field.addWidget(self._find_key)
        self._field_row = field

    def set_narrow(self, *, narrow: bool) -> None:
        """``narrow`` below the width at which the rail loses its words."""
        self._narrow = narrow
        measure(self._left, width=RAIL_NARROW if narrow else RAIL)
        self.refresh()

    def set_page(self, widgets: Sequence[QWidget], primary: str, kind: Literal["primary", "normal"]) -> None:
        """Shows the widgets of the page in view and its button."""
        for widget in self._page_widgets:
            self._page_row.removeWidget(widget)
            widget.hide()
        self._page_widgets = list(widgets)
        for widget in self._page_widgets:
            self._page_row.addWidget(widget)
            # It may have been made at another scale and not been part of the window since.
            apply_measures(widget)
            widget.show()
        self._primary, self._kind = primary, kind
        self.refresh()

    def refresh(self) -> None:
        """Shows the state of project and run."""
        document, running = self._document, self._runner.running
        self._title = document.title if document.is_open else texts.JUDGENET_STUDIO
        self.name.setEnabled(document.is_open and not document.read_only)
        state = ""
        if document.is_open:
            state = texts.READ_ONLY if document.read_only else SAVE_WORDS[document.save_state]
            if document.path is None and state == texts.SAVED:
                state = texts.DRAFT
        self.state.setText(state)
        tips = {texts.READ_ONLY: document.read_only, texts.DRAFT: texts.KEPT_AS_A_DRAFT}
        self.state.setToolTip(tips.get(state, ""))
        self.state.setProperty("tone", "warn" if state in (texts.READ_ONLY, texts.NOT_SAVED) else "text2")
        self.state.style().unpolish(self.state)
        self.state.style().polish(self.state)
        paused = self._runner.paused
        word = texts.RESUME if paused else texts.PAUSE
        self.pause.setText(word)
        self.pause.setIcon(icon("play" if paused else "pause", "text"))
        self.pause.setAccessibleName(word)
        self.pause.setEnabled(not self._runner.stopping)
        self.stop.setText(texts.STOPPING_NOW if self._runner.stopping else texts.STOP)
        for button in (self.pause, self.stop):
            button.setVisible(running)
        self._refresh_primary()
        self._fit()

    def _fit(self) -> None:
        """Where room is short the palette's field becomes an icon, then the state is hidden, then undo and redo."""
        theme = current_theme()
        title = self._title
        name_room = theme.px(220 if self._narrow else 320)
        self.name.setText(self.name.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, name_room))
        for widget in (self._find_text, self._find_key, self.state, self.undo, self.redo):
            widget.setVisible(True)
        self.palette_field.setFixedSize(theme.px(200 if self._narrow else 216), theme.px(32))
        if self._needed() <= self.width():
            return
        self._find_text.hide()
        self._find_key.hide()
        self.palette_field.setFixedWidth(theme.px(42))
        if self._needed() > self.width():
            self.state.hide()
        if self._needed() > self.width():
            self.undo.hide()
            self.redo.hide()
        over = self._needed() - self.width()
        if over > 0:
            room = max(theme.px(80), self.name.sizeHint().width() - over)
            self.name.setText(self.name.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, room))

    def _needed(self) -> int:
        """The width that everything in the bar needs, in px."""
        self._page_row.invalidate()
        return int(self._row.sizeHint().width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _refresh_primary(self) -> None:
        action = self._primary
        visible = bool(action) and not self._runner.running and action in self._actions
        self.primary.setVisible(visible)
        if not visible:
            return
        wanted = self._actions[action]
        possible = self._actions.why_not(action) is None
        self.primary.setText(wanted.text.removesuffix("…"))
        self.primary.setAccessibleName(wanted.text.removesuffix("…"))
        self.primary.setIcon(icon(wanted.icon, "onAccent" if self._kind == "primary" else "text"))
        self.primary.setEnabled(possible)
        self.primary.setToolTip(self._actions.tip(action))
        if self.primary.property("kind") != self._kind:
            set_kind(self.primary, self._kind)

    def _do_primary(self) -> None:
        self._actions.trigger(self._primary)

    def _rename(self) -> None:
        self._actions.trigger("project.rename")

    def _pause(self) -> None:
        self._actions.trigger("run.pause")


class Rail(QFrame):
    """The pages, with icon and word, or with icon alone in a narrow window; settings at the foot.

    Signals:
        chosen: the key of a page.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "rail")
        self.setAccessibleName(texts.PAGES)
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for key, word, name in (*RAIL_PAGES, ("settings", texts.SETTINGS, "settings")):
            if key == "settings":
                column.addStretch(1)
            button = QToolButton(self)
            button.setText(word)
            button.setIcon(icon(name, "text2", on="accent"))
            button.setCheckable(True)
            button.setAccessibleName(word)
            button.setObjectName(f"rail.{key}")
            button.setProperty(PAGE_TAB, True)
            button.clicked.connect(self._click)
            self._group.addButton(button)
            self._buttons[key] = button
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignHCenter)
        self._column = column
        self.set_narrow(narrow=False)

    def set_narrow(self, *, narrow: bool) -> None:
        """``narrow`` shows icons only."""
        self._narrow = narrow
        measure(self, width=RAIL_NARROW if narrow else RAIL)
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if narrow else Qt.ToolButtonStyle.ToolButtonTextUnderIcon
        for button in self._buttons.values():
            button.setToolButtonStyle(style)
            measure(button, icon=20)
            button.setToolTip(button.text() if narrow else "")
            set_kind(button, "rail narrow" if narrow else "rail")
            button.setProperty("low", "")
        self._fit()

    def _fit(self) -> None:
        """Moves the buttons closer together where the window is too low for all of them."""
        theme, buttons = current_theme(), self._buttons.values()
        high = theme.px(44 if self._narrow else 48)
        low = self.height() < len(buttons) * (high + theme.px(4)) + theme.px(16)
        for button in buttons:
            if button.property("low") != str(low).lower():
                button.setProperty("low", str(low).lower())
                button.style().unpolish(button)
                button.style().polish(button)
        self._column.setSpacing(theme.px(1 if low else 4))
        inside = theme.px(2 if low else 8)
        self._column.setContentsMargins(0, inside, 0, inside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def show_page(self, key: str) -> None:
        """Marks the page that is in view."""
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def focus_page(self, key: str) -> None:
        """Moves the keyboard focus to the button of a page, where it has one."""
        if key in self._buttons:
            self._buttons[key].setFocus(Qt.FocusReason.TabFocusReason)

    def set_open(self, is_open: bool) -> None:
        """Enables the pages; all but the settings need an open project."""
        for key, button in self._buttons.items():
            button.setEnabled(is_open or key == "settings")

    def button(self, key: str) -> QToolButton:
        """The button of a page."""
        return self._buttons[key]

    def _click(self) -> None:
        sender = self.sender()
        for key, button in self._buttons.items():
            if button is sender:
                self.chosen.emit(key)


def _say(fact: QLabel | QPushButton, name: str, text: str, tip: str) -> None:
    """Sets text, accessible name and tool tip of a figure in the status bar."""
    if text != fact.text():
        fact.setText(text)
        fact.setAccessibleName(f"{name}: {text}" if text else name)
        fact.updateGeometry()
    fact.setToolTip(tip)


class _Fact(QLabel):
    """A figure with its word in the status bar."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self.setProperty("tone", "text2")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.hide()
        self.shown = False

    def say(self, text: str, tip: str = "") -> None:
        """Shows a text; an empty one hides the figure."""
        self.shown = bool(text)
        _say(self, self._name, text, tip)


class _FactLink(QPushButton):
    """A figure of the status bar that leads to another page."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self.setAccessibleName(name)
        set_kind(self, "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.hide()
        self.shown = False

    def say(self, text: str, tip: str = "") -> None:
        """Shows a text; an empty one hides the figure."""
        self.shown = bool(text)
        _say(self, self._name, text, tip)


def _pairs_of(progress: Progress) -> str:
    """``12 of 80 pairs``: how many of the run's pairs are done."""
    return texts.of_all(f"{progress.pairs_done:,}", plural(progress.pairs, "pair"))


class StatusBar(QFrame):
    """The progress of the run, long work with a button to stop it, and what is loaded.

    Signals:
        unscored_wanted: the pairs with unscored calls are to be shown.
    """

    unscored_wanted = Signal()

    def __init__(
        self,
        document: Document,
        run_state: RunState,
        runner: Runner,
        figures: DesignEstimate,
        shards: ShardsState,
        tasks: Tasks,
    ) -> None:
        super().__init__()
        self.setProperty("part", "foot")
        self.setAccessibleName(texts.STATUS_BAR)
        self._document = document
        self._run_state = run_state
        self._runner = runner
        self._figures = figures
        self._shards = shards
        self._tasks = tasks
        self._job: Job | None = None
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(texts.PROGRESS)
        self._left = [_Fact(name, self) for name in (texts.STATE, texts.PAIRS, texts.CALLS, texts.NOTE)]
        self.unscored = _FactLink(texts.UNSCORED, self)
        self.unscored.clicked.connect(self.unscored_wanted)
        names = (texts.SPEED, texts.PARALLEL_CALLS, texts.UNSCORED, texts.PRICE, texts.TIME_LEFT)
        speed, in_flight, self._all_scored, price, left = (_Fact(name, self) for name in names)
        self._right: list[_Fact | _FactLink] = [speed, in_flight, self._all_scored, price, left, self.unscored]
        self.stop_job = QPushButton(texts.STOP, self)
        set_kind(self.stop_job, "link")
        self.stop_job.setAccessibleName(texts.STOP_THIS_WORK)
        self.stop_job.clicked.connect(self._stop)
        self._warn = IconLabel("warning", "warn")
        self._lay_out()
        self._connect()
        self._measure()
        self.refresh()

    def _connect(self) -> None:
        document, run_state = self._document, self._run_state
        for signal in (
            run_state.progress_changed,
            run_state.run_changed,
            self._runner.changed,
            document.project_changed,
            document.pairs_changed,
            document.loading_changed,
            document.difference_changed,
            document.opened,
            self._figures.changed,
            self._shards.changed,
        ):
            signal.connect(self.refresh)
        self._tasks.jobs_changed.connect(self._jobs_changed)

    def _measure(self) -> None:
        measure(self, height=STATUS_BAR)
        measure(self._row, margins=(16, 0, 16, 0), spacing=20)
        measure(self.bar, width=160)
        for shown in (*self._left, *self._right):
            measure(shown, font="body", tabular=True)
        measure(self._left[0], font="strong")

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.addWidget(self.bar)
        for fact in self._left:
            row.addWidget(fact)
        row.addWidget(self.stop_job)
        row.addStretch(1)
        for shown in self._right[:2]:
            row.addWidget(shown)
        row.addWidget(self._warn)
        for shown in (self.unscored, *self._right[2:5]):
            row.addWidget(shown)
        self._row = row

    def _jobs_changed(self) -> None:
        job = self._tasks.jobs[-1] if self._tasks.jobs else None
        if job is not self._job:
            self._job = job
            if job is not None:
                job.progressed.connect(self.refresh)
        self.refresh()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def refresh(self) -> None:
        """Shows the present state."""
        running = self._runner.running
        job = self._job
        self.stop_job.setVisible(job is not None)
        if running:
            self._show_run(self._run_state.progress)
            if job is not None:
                self._left[3].say(job.title)
        elif job is not None:
            self._show_job(job)
        else:
            self._show_rest()
        self._warn.setVisible(self.unscored.shown)
        self._fit()

    def _show_run(self, progress: Progress) -> None:
        self._show_share(progress.share)
        runner, away = self._runner, self._runner.away.removeprefix("paused: ")
        paused = runner.paused or (away and not runner.stopping)
        share = texts.FINISHING if progress.share >= 1 else whole_percent(progress.share)
        state = texts.PAUSED if paused else texts.STOPPING if runner.stopping else share
        left, right = self._left, self._right
        left[0].say(state)
        if runner.batches and not paused:
            self._show_batches(progress)
            return
        left[1].say(_pairs_of(progress))
        left[2].say(texts.of_all(f"{progress.calls:,}", plural(max(progress.calls_planned, progress.calls), "call")))
        left[3].say(away.partition(". ")[0], away)
        right[0].say(texts.calls_per_second(f"{progress.rate:.1f}") if progress.rate else "")
        right[1].say(texts.running(plural(progress.in_flight, "call")))
        self._say_unscored(progress)
        right[3].say(self._price(progress, running=True))
        right[4].say("" if paused or progress.eta_s is None else texts.time_until_the_end(duration(progress.eta_s)))

    def _show_batches(self, progress: Progress) -> None:
        """A run that waits for batches: shows their state in place of speed and time left."""
        for fact in (*self._left[1:], *self._right):
            fact.say("")
        self._left[1].say(self._runner.batches)
        self._left[2].say(_pairs_of(progress))
        self._say_unscored(progress)
        self._right[3].say(self._price(progress, running=True))

    def _show_share(self, share: float | None) -> None:
        """Shows the progress. A full bar would say that the work is done, so the last part is shown as busy."""
        self.bar.show()
        measured = share is not None and share < 1
        self.bar.setRange(0, 1000 if measured else 0)
        if share is not None and measured:
            self.bar.setValue(round(1000 * share))
        self.bar.setAccessibleDescription("" if share is None else whole_percent(share))

    def _say_unscored(self, progress: Progress) -> None:
        calls = progress.unscored_calls
        reasons = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in progress.unscored.items())
        self.unscored.say(
            texts.unscored(f"{calls:,}") if calls else "", texts.show_their_pairs(reasons) if calls else ""
        )
        self._all_scored.say(texts.NONE_UNSCORED if progress.calls and not calls else "")

    def _price(self, progress: Progress, *, running: bool) -> str:
        if progress.unpriced and not progress.price:
            return texts.PRICE_UNKNOWN
        estimate = self._figures.estimate
        currency = estimate.estimate.currency if estimate else "USD"
        text = money(progress.price, currency)
        whole = None
        if running and estimate is not None:
            by_batch = estimate.estimate.batch_price if self._runner.batches else None
            whole = by_batch or estimate.estimate.price
        if whole is not None:
            high = progress.price_before + whole.high
            if high > progress.price:
                text += texts.of_about(money_span(high, high, currency))
        return texts.with_unknown_price(text, plural(progress.unpriced, "call")) if progress.unpriced else text

    def _show_job(self, job: Job) -> None:
        self._show_share(job.share)
        self._left[0].say(job.title)
        self._left[1].say(job.text)
        for fact in (*self._left[2:], *self._right):
            fact.say("")

    def _show_rest(self) -> None:
        self.bar.hide()
        document, run, progress = self._document, self._run_state.run, self._run_state.progress
        left, right = self._left, self._right
        for fact in (*left, *right):
            fact.say("")
        if not document.is_open:
            return
        if (shards_status := self._shards.status()) is not None:
            for fact, text in zip(left, shards_status[:3], strict=False):
                fact.say(text)
            right[3].say(shards_status.price)
        elif run is None or self._run_state.loading:
            left[0].say(texts.NO_RUN_IN_PROGRESS if run is None else texts.run(run.number))
        else:
            words = {
                "done": texts.FINISHED,
                "budget": texts.STOPPED_AT_ITS_LIMIT,
                "cancelled": texts.STOPPED,
                "failed": texts.FAILED,
            }
            words |= {
                "enough": texts.STOPPED_ENOUGH_IS_KNOWN,
                "halted": texts.HALTED,
                "running": texts.WAS_INTERRUPTED,
                "paused": texts.WAS_INTERRUPTED,
            }
            shards = ShardsInRun.of_run(run)
            part = shards is not None and bool(shards.lacking)
            left[0].say(
                texts.run_of_shards(run.number, shards.words)
                if part and shards is not None
                else texts.run_and_state(run.number, words[self._run_state.state or "done"])
            )
            left[1].say(texts.judged(_pairs_of(progress)))
            left[2].say(plural(progress.calls, "call"))
            self._say_unscored(progress)
            right[3].say(self._price(progress, running=False) if progress.calls else "")
        labels = document.dataset.labels if document.dataset is not None else None
        right[0].say(document.changed_since_run)
        right[1].say(texts.pairs_loaded(plural(len(document.pairs), "pair")) if document.pairs else "")
        if labels is not None and run is None:
            labelled = labels.a + labels.b + labels.tie
            # Those of the desk are on its own page.
            right[2].say(texts.labels_with_the_data(plural(labelled, "label")) if labelled else "")

    def _fit(self) -> None:
        """Hides the figures that do not fit: the last of the left group first."""
        facts = [fact for fact in (*self._left, *self._right) if fact.shown]
        gap = self._row.spacing()
        free = self.width() - 2 * current_theme().px(16)
        if not self.bar.isHidden():
            free -= self.bar.width() + gap
        if not self.stop_job.isHidden():
            free -= self.stop_job.sizeHint().width() + gap
        if not self._warn.isHidden():
            free -= self._warn.sizeHint().width() + gap
        wanted = sum(fact.sizeHint().width() + gap for fact in facts)
        hidden: set[QWidget] = set()
        for fact in (*reversed(self._left[1:]), *self._right):
            if wanted <= free:
                break
            if fact.shown:
                wanted -= fact.sizeHint().width() + gap
                hidden.add(fact)
        for fact in (*self._left, *self._right):
            fact.setVisible(fact.shown and fact not in hidden)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
