"""The test of the models: asks every model of the network about ten built-in pairs, and shows the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.network import NetworkError, Settings
from judgenet.core.plan import PriceError
from judgenet.core.preflight import Assessment, Check, Light
from judgenet.core.prompts import PromptError
from judgenet.core.wording import money, plural, whole_percent
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.preflight import Preflight, calls_needed, keep_preflight, models_of, preflight
from judgenet.engine.session import Start, profiles_of
from judgenet.engine.setup import start_of
from judgenet.ui import texts
from judgenet.ui.context import Context
from judgenet.ui.elements import IconLabel, label, line, set_tone
from judgenet.ui.measures import measure
from judgenet.ui.tasks import Job, JobCancelled
from judgenet.ui.widgets import set_kind

_ICONS: Final[dict[Light | None, tuple[str, str]]] = {
    "green": ("tick", "good"),
    "yellow": ("warning", "warn"),
    "red": ("error", "bad"),
    None: ("dash", "text3"),
}
_WORDS: Final[dict[Light | None, str]] = {
    "green": texts.GREEN,
    "yellow": texts.YELLOW,
    "red": texts.RED,
    None: texts.NOT_SEEN,
}
_WIDE: Final = 720
_HIGH: Final = 560


class PreflightDialog(QDialog):
    """Asks the models of the open network about the built-in pairs and shows a light and a sentence for each check."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._over = parent
        self._found: list[Preflight] = []
        self._job: Job | None = None
        self.setWindowTitle(texts.TEST_THE_MODELS)
        self.setAccessibleName(texts.TEST_THE_MODELS)
        self._lead = label("", "evidence", wrap=True)
        self._state = label("", tone="text2", wrap=True)
        self._list = QWidget()
        self._rows = QVBoxLayout(self._list)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self._list)
        self._area.setAccessibleName(texts.RESULTS_OF_THE_TEST)
        self.begin = QPushButton(texts.TEST)
        self.stop = QPushButton(texts.STOP)
        self.leave = QPushButton(texts.CLOSE)
        set_kind(self.begin, "primary")
        self.begin.setDefault(True)
        self.begin.clicked.connect(self._begin)
        self.stop.clicked.connect(self._stop)
        self.leave.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addWidget(self._state, stretch=1)
        for button in (self.stop, self.leave, self.begin):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.addWidget(self._lead)
        column.addWidget(self._area, stretch=1)
        column.addLayout(buttons)
        measure(column, margins=(24, 16, 24, 16), spacing=16)
        measure(buttons, spacing=8)
        measure(self._rows, margins=8, spacing=12)
        context.theme.dress(self)
        context.runner.changed.connect(self._refresh)
        self.finished.connect(self._closed)

    @property
    def results(self) -> tuple[Preflight, ...]:
        """Results of the test, by model."""
        return tuple(self._found)

    def show_for(self) -> None:
        """Opens the dialog for the network as it stands."""
        theme = self._context.theme.theme
        room = self._over.size()
        self.resize(min(theme.px(_WIDE), room.width() - theme.px(32)), min(theme.px(_HIGH), room.height()))
        self._refresh()
        self.open()

    def _begin(self) -> None:
        self._context.tasks.start(self._try(), texts.TEST_THE_MODELS)

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _closed(self) -> None:
        self._stop()

    def _start(self) -> Start:
        document = self._context.document
        return start_of(document.project, (), document.profiles, folder=document.folder)

    async def _try(self) -> None:
        context = self._context
        try:
            start = self._start()
            models = models_of(start.spec)
        except (NetworkError, PriceError, PromptError) as error:
            context.errors.post_exception(error, texts.MODELS_NOT_TESTED)
            return
        if not await context.document.approvals.may_send(profiles_of(start)):
            return
        self._found = []
        engine = context.runner.engine()
        try:
            for place, settings in enumerate(models, 1):
                model = settings.model or texts.NO_MODEL

                def ask(job: Job, settings: Settings = settings, place: int = place) -> Preflight:
                    self._job = job

                    def on_call(done: int, total: int) -> None:
                        job.share, job.text = done / total, texts.of_all(str(done), plural(total, "call"))

                    return preflight(engine, start, settings, on_call, lambda: job.cancelled)

                working = context.tasks.job(texts.test_of_model(model, place, len(models)), ask)
                self._say(texts.asking_model(model, place, plural(len(models), "model")), busy=True)
                self._found.append(await working)
                if context.document.own_store is not None and not context.document.read_only:
                    keep_preflight(context.document.own_store, self._found[-1])
                self._refresh(busy=True)
        except JobCancelled:
            self._say(texts.STOPPED_SENTENCE)
            return
        except (EndpointError, NetworkError, OSError) as error:
            context.errors.post_exception(error, texts.MODELS_NOT_TESTED)
        finally:
            self._job = None
            self._refresh()
            # The hint to test the models is no longer needed.
            context.figures.refresh()

    # What is shown

    def _say(self, text: str, *, busy: bool = False) -> None:
        self._state.setText(text)
        self.begin.setEnabled(not busy)
        self.stop.setVisible(busy)

    def _refresh(self, *_: object, busy: bool = False) -> None:
        if not self.isVisible() and _:
            return
        self._lead.setText(texts.what_the_test_asks(calls_needed()))
        why = self._why_not()
        going = busy or self._job is not None
        self.begin.setText(texts.TEST_AGAIN if self._found else texts.TEST)
        self.begin.setToolTip(why)
        if not going:
            self._say(why)
            self.begin.setEnabled(not why)
        for old in self._list.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            old.hide()
            old.deleteLater()
        while (item := self._rows.takeAt(0)) is not None:
            del item
        for place, result in enumerate(self._found):
            if place:
                self._rows.addWidget(line())
            self._rows.addWidget(self._model(result))
        if not self._found:
            self._rows.addWidget(self._asked())
        self._rows.addStretch(1)

    def _why_not(self) -> str:
        if self._context.runner.busy:
            return texts.CALLS_ALREADY_MADE
        try:
            models = models_of(self._start().spec) if self._context.document.is_open else ()
        except (NetworkError, PriceError, PromptError) as error:
            return str(error)
        if not models:
            return texts.OPEN_A_PROJECT_FIRST
        profiles = self._context.document.profiles
        for settings in models:
            if settings.endpoint is None or settings.model is None:
                return texts.CHOOSE_A_MODEL_FIRST
            if settings.endpoint not in profiles or profiles[settings.endpoint].kind == "replay":
                return texts.recorded_answers_only(settings.endpoint)
        return ""

    def _asked(self) -> QWidget:
        """Which models will be asked."""
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        try:
            models: Sequence[Settings] = models_of(self._start().spec) if self._context.document.is_open else ()
        except (NetworkError, PriceError, PromptError):
            models = ()
        for settings in models:
            column.addWidget(
                label(
                    texts.model_at(settings.model or texts.NO_MODEL, settings.endpoint or texts.NO_ENDPOINT), "strong"
                )
            )
            column.addWidget(label(texts.NOT_TESTED_YET, tone="text2"))
        return box

    def _model(self, result: Preflight) -> QWidget:
        """A model: its light and sentence, its checks, its facts."""
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        measure(grid, across=12, down=8)
        grid.setColumnStretch(1, 1)
        assessment: Assessment = result.assessment
        grid.addWidget(self._light(assessment.light, 20), 0, 0, Qt.AlignmentFlag.AlignTop)
        head = label(texts.model_at(result.model, result.endpoint), "section", wrap=True)
        grid.addWidget(head, 0, 1)
        sentence = label(f"{_WORDS[assessment.light]}. {assessment.sentence}", wrap=True)
        set_tone(sentence, _ICONS[assessment.light][1])
        grid.addWidget(sentence, 1, 1)
        if result.message:
            grid.addWidget(label(result.message, tone="text2", wrap=True), 2, 1)
        row = 3
        for check in assessment.checks:
            grid.addWidget(self._light(check.light, 16), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._check(check), row, 1)
            row += 1
        grid.addWidget(label(_facts(result), tone="text2", wrap=True), row, 1)
        box.setAccessibleName(f"{result.model}: {_WORDS[assessment.light]}. {assessment.sentence}")
        return box

    def _light(self, light: Light | None, side: int) -> IconLabel:
        name, tone = _ICONS[light]
        icon = IconLabel(name, tone, side)
        icon.setAccessibleName(_WORDS[light])
        return icon

    def _check(self, check: Check) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(label(check.title, "strong", wrap=True))
        column.addWidget(label(check.found, wrap=True))
        column.addWidget(label(check.meaning, tone="text2", wrap=True))
        box.setAccessibleName(f"{_WORDS[check.light]}: {check.title}. {check.found} {check.meaning}")
        return box


def _facts(result: Preflight) -> str:
    scored, calls = result.assessment.scored, result.assessment.calls
    share = scored / calls if calls else 0.0
    facts = [texts.calls_scored(scored, plural(calls, "call"), whole_percent(share))]
    if result.seconds is not None:
        facts.append(texts.seconds_per_call(f"{result.seconds:.1f}"))
    facts.append(texts.PRICE_UNKNOWN.lower() if result.price is None else money(result.price, "USD"))
    if result.context is not None:
        facts.append(texts.context_of(f"{result.context:,}"))
    if result.returned_model and result.returned_model != result.model:
        facts.append(texts.answers_as(result.returned_model))
    return ", ".join(facts)
