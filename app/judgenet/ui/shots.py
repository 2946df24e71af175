"""Pictures of the studio: every page of the example run, without a screen. They are the same each time."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

import qasync
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.labels import Said
from judgenet.engine.embedded_model import FOLDER_VARIABLE
from judgenet.engine.example import BEGAN, ExampleRun, record_example
from judgenet.engine.example_lab import PROBES_SHOWN, record_example_lab
from judgenet.store.recovery import STATE_VARIABLE
from judgenet.store.settings import CONFIG_VARIABLE
from judgenet.ui.app import Studio, make_app
from judgenet.ui.canvas.model import Place
from judgenet.ui.clock import StoppedClock, stopped_clock
from judgenet.ui.pages.bias import BiasPage
from judgenet.ui.pages.data import DataPage
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.labels import LabelsPage
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.pages.run import RunPage
from judgenet.ui.playback import PlaybackEngine, up_to
from judgenet.ui.settings import Recent

View = Literal[
    "welcome",
    "design",
    "data",
    "pair",
    "labels",
    "run",
    "run-end",
    "results",
    "results-what-if",
    "results-plan",
    "results-trust",
    "results-end",
    "bias",
    "bias-pairs",
    "report",
    "palette",
    "settings",
    "dense",
]
"""The pages; ``run`` is in its middle; ``results-what-if``, ``-plan``, ``-trust`` and ``-end`` are the page Results
further down, the last its foot; ``bias-pairs`` has the pairs behind a bar."""
VIEWS: Final[tuple[View, ...]] = get_args(View)
LOOKS: Final = ("light", "dark", "contrast")
FORMS: Final = {
    "1280x720": (1280, 720, 1.0),
    "1440x900": (1440, 900, 1.0),
    "1920x1080": (1920, 1080, 1.0),
    "200": (2560, 1440, 2.0),
}
"""Width and height of the window in px, and the UI scale."""

FOCUS: Final = 18
"""The pair that the run in the middle is at."""
_DONE: Final = frozenset(
    {CallSite(FOCUS, 2, 1, "ab", 1), CallSite(FOCUS, 2, 1, "ba", 1), CallSite(FOCUS, 2, 2, "ab", 1)}
)
_WRITING: Final = {CallSite(FOCUS, 2, 2, "ba", 1): 122}
_ASKED: Final = frozenset(
    {
        CallSite(FOCUS, 2, 3, "ab", 1),
        CallSite(FOCUS, 2, 3, "ba", 1),
        *(CallSite(FOCUS + 1 + later, 0, 0, None, 1) for later in range(4)),
    }
)
_DENSE: Final = (200, 3)
_LABELS: Final[dict[str, tuple[Said, ...]]] = {
    "Annotator 2": ("a", "b", "tie", "a", "a", "b", "b", "a", "tie", "b", "a"),
    "You": ("a", "b", "a", "a", "a", "b", "tie", "a", "tie", "b", "a", "b", "a", "b"),
}
_LONGEST_S: Final = 90.0
_EVERY_S: Final = 0.12
_ALIKE: Final = 3
_ALIKE_AT_FIRST: Final = 10
"""A window stands still when so many looks at it are the same; more where a page has just been filled, as pages take
in news at their leisure."""
_NOW: Final = datetime.fromtimestamp(BEGAN, UTC)
_RECENT: Final = (
    ("Everyday answers", "24 pairs, network 3 × 2, run 1", 0),
    ("Release check", "1,200 pairs, network 4 × 2, run 3", 1),
    ("Translation, seven languages", "640 pairs, network 5 × 1, run 2", 4),
    ("Support replies", "Draft, 80 pairs, network 3 × 2", 24),
)
"""Invented projects of the welcome page: name, line, days ago."""


class ShotError(Exception):
    """A picture that cannot be taken."""


@dataclass(frozen=True, slots=True, order=True)
class Shot:
    """One picture: what is shown, in which theme, at which size."""

    view: View
    look: str
    form: str

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return f"{self.view}-{self.look}-{self.form}"


def all_shots() -> list[Shot]:
    """Every page in light and dark at each size; the run in its middle in the contrast theme as well."""
    return [
        Shot(view, look, form)
        for view in VIEWS
        for look in LOOKS
        for form in FORMS
        if look != "contrast" or view == "run"
    ]


def take(shots: Sequence[Shot], folder: Path, on_picture: Callable[[Path], None] = lambda path: None) -> None:
    """Writes pictures as PNG files into a folder. ``on_picture`` is called with each file.

    The settings and projects of whoever runs this are left alone. It makes the application, so that no other window
    may be there.

    :raises ShotError: a page does not come to rest, or shows an error.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="judgenet-shots-", ignore_cleanup_errors=True) as name,
        _surroundings(Path(name)),
        stopped_clock(_NOW) as clock,
    ):
        place = Path(name) / "projects"
        place.mkdir()
        example = record_example(place)
        app = make_app()
        app.setQuitOnLastWindowClosed(False)
        app.setCursorFlashTime(0)
        loop = qasync.QEventLoop(app)
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(_Session(app, example, clock).take(shots, folder, on_picture))
        finally:
            loop.close()
            asyncio.set_event_loop(None)


@contextmanager
def _surroundings(place: Path) -> Iterator[None]:
    """An environment without anything of this computer that could show: no screen, no settings, no keys, no model."""
    before = dict(os.environ)
    for name in before:
        if name.endswith(("_API_KEY", "_BASE_URL", "_ENDPOINT", "_HOST")) or name.startswith(("QT_", "JUDGENET_")):
            del os.environ[name]
    os.environ |= {
        "QT_QPA_PLATFORM": "offscreen",
        "QT_FONT_DPI": "96",
        "TZ": "UTC",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        STATE_VARIABLE: str(place / "state"),
        CONFIG_VARIABLE: str(place / "config"),
        FOLDER_VARIABLE: str(place / "models"),
    }
    _set_zone()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before
        _set_zone()


def _set_zone() -> None:
    """Lets a change of ``TZ`` hold, where the system can."""
    if sys.platform != "win32":
        time.tzset()


class _Session:
    """A studio that is led from page to page."""

    def __init__(self, app: QApplication, example: ExampleRun, clock: StoppedClock) -> None:
        self._app = app
        self._example = example
        self._clock = clock
        self._studio = Studio(app)
        self._window = self._studio.window
        self._context = self._window.context

    async def take(self, shots: Sequence[Shot], folder: Path, on_picture: Callable[[Path], None]) -> None:
        studio = self._studio
        studio.settings.set(theme="light", reduce_motion=True)
        self._window.resize(1280, 720)
        studio.show(None)
        leads: Mapping[View, Callable[[], Awaitable[None]]] = {
            "welcome": self._welcome,
            "design": self._design,
            "data": self._data,
            "pair": self._pair,
            "run-end": self._run_end,
            "results": self._results,
            "results-what-if": self._results,
            "results-plan": self._results,
            "results-trust": self._results,
            "results-end": self._results,
            "report": self._report,
            "palette": self._open_palette,
            "settings": self._settings,
            "run": self._run,
            "bias": self._bias,
            "bias-pairs": self._bias_pairs,
            "labels": self._labels,
            "dense": self._dense,
        }
        """In this order, because a page may leave something behind that the next ones do not show."""
        wanted = {view: [shot for shot in shots if shot.view == view] for view in leads}
        try:
            for view, of_view in wanted.items():
                if not of_view:
                    continue
                if view != "welcome" and not self._context.document.is_open:
                    self._window.frame_actions.open_file(self._example.file)
                    await self._context.document.loaded()
                    await self._stands_still("the project")
                await leads[view]()
                await self._stands_still(view, _ALIKE_AT_FIRST)
                for shot in of_view:
                    on_picture(await self._take_one(shot, folder))
                self._window.palette_popup.close_palette()
        finally:
            await self._window.shut_down()
            self._window.hide()

    async def _take_one(self, shot: Shot, folder: Path) -> Path:
        """Takes a picture of the view that is shown, in its look and at its size; the file that holds it."""
        width, height, scale = FORMS[shot.form]
        self._studio.settings.set(theme=shot.look, scale=scale)
        self._window.resize(width, height)
        if shot.view == "palette":
            await self._open_palette()
        elif shot.view.startswith("results-"):
            await self._stands_still(shot.name)
            self._scroll_results(shot.view)
        path = folder / f"{shot.name}.png"
        image = await self._stands_still(shot.name)
        if troubles := self._window.errors.troubles:
            raise ShotError(f"{shot.name}: the window shows an error: {troubles[0].what}")
        if not image.save(str(path)):
            raise ShotError(f"{path}: the picture cannot be written.")
        return path

    async def _stands_still(self, what: str, alike: int = _ALIKE) -> QImage:
        """The picture of the window, when it no longer changes."""
        context = self._context
        looks: list[QImage] = []
        ends = time.monotonic() + _LONGEST_S
        while time.monotonic() < ends:
            await asyncio.sleep(_EVERY_S)
            waits = any(timer.isActive() and timer.isSingleShot() for timer in self._window.findChildren(QTimer))
            if (
                waits
                or self._window.tasks.jobs
                or context.results.working
                or context.figures.stale
                or context.document.loading
            ):
                looks.clear()
                continue
            look = self._window.grab().toImage()
            if looks and looks[-1] != look:
                looks.clear()
            looks.append(look)
            if len(looks) >= alike:
                return look
        raise ShotError(f"{what}: the window does not come to rest within {_LONGEST_S:.0f} s.")

    # Pages

    async def _welcome(self) -> None:
        for name, line, days in reversed(_RECENT):
            file = self._example.file.with_stem(name)
            if not file.exists():
                shutil.copy(self._example.file, file)
            self._studio.settings.remember(Recent(file, name, line, BEGAN - 86400 * days))
        self._context.navigator.go("welcome")

    async def _design(self) -> None:
        self._context.navigator.go("design", site=CallSite(0, 1, 2, "ab", 1))

    async def _data(self) -> None:
        self._context.navigator.go("data")

    async def _pair(self) -> None:
        page = self._window.page("data")
        assert isinstance(page, DataPage)
        self._context.navigator.go("data")
        page.browse.open_pair(FOCUS)

    async def _labels(self) -> None:
        """Two annotators at the desk, the second with a pair to go on with, at odds on two."""
        page = self._window.page("labels")
        assert isinstance(page, LabelsPage)
        self._context.navigator.go("labels")
        for name, labels in _LABELS.items():
            page.state.set_annotator(name)
            await self._stands_still("the desk")
            for labelled in labels:
                self._clock.seconds += 34
                desk = page.state.desk
                assert desk is not None
                shown = desk.shown(labelled)
                assert shown is not None
                page.state.say(shown)
        await self._stands_still("the labels")
        self._context.document.undo_stack.clear()

    async def _run_end(self) -> None:
        self._context.navigator.go("run")
        self._context.run_state.set_focus(FOCUS)
        self._select(Place(0, 1))

    async def _results(self) -> None:
        self._context.navigator.go("results")

    def _scroll_results(self, view: View) -> None:
        """Brings a part of the page Results to the top, or its foot into view."""
        page = self._window.page("results")
        assert isinstance(page, ResultsPage)
        bar = page.area.verticalScrollBar()
        parts: Mapping[View, QWidget] = {
            "results-what-if": page.what_if,
            "results-plan": page.planner,
            "results-trust": page.review,
        }
        part = parts.get(view)
        bar.setValue(bar.maximum() if part is None else part.mapTo(page.rows, QPoint(0, 0)).y())

    async def _report(self) -> None:
        self._context.navigator.go("report")

    async def _open_palette(self) -> None:
        self._window.palette_popup.close_palette()
        self._context.navigator.go("design")
        self._window.palette_popup.open("4x2")

    async def _settings(self) -> None:
        self._context.navigator.go("settings")

    async def _run(self) -> None:
        """Tells the run again up to its middle."""
        self._context.navigator.go("run")
        self._context.runner.use(PlaybackEngine())
        state, bridge = self._context.run_state, self._window.bridge
        begun = asyncio.Event()
        state.run_changed.connect(begun.set)
        self._context.runner.start()
        await begun.wait()
        for at, event in up_to(self._example.events, FOCUS, _DONE, _WRITING, _ASKED):
            self._clock.seconds = at
            bridge.put(event)
            bridge.drain()
        self._clock.seconds += 0.5
        bridge.drain()
        state.set_focus(FOCUS)
        self._select(Place(1, 1))

    async def _bias(self) -> None:
        """The lab of the example, recorded now: the pages before show a project without one."""
        await self._context.runner.stop_and_wait()
        page = self._window.page("bias")
        assert isinstance(page, BiasPage)
        document = self._context.document
        if not page.state.labs:
            assert document.store is not None
            folder = self._example.file.parent
            arguments = (document.store, document.project, document.pairs, folder)
            await asyncio.to_thread(record_example_lab, *arguments)
            page.state.refresh_labs()
        self._context.navigator.go("bias")
        page.state.choose(replace(page.state.choice, probes=PROBES_SHOWN))

    async def _bias_pairs(self) -> None:
        await self._bias()
        await self._stands_still("the lab")
        page = self._window.page("bias")
        assert isinstance(page, BiasPage)
        page.card.rows[PROBES_SHOWN.index("bandwagon")].click()

    async def _dense(self) -> None:
        page = self._window.page("design")
        assert isinstance(page, DesignPage)
        await self._context.runner.stop_and_wait()
        self._window.frame_actions.set_size(*_DENSE)
        self._context.navigator.go("design")
        page.editor.select([Place(1, 12)])
        page.view.fit()

    def _select(self, place: Place) -> None:
        page = self._window.page("run")
        assert isinstance(page, RunPage)
        page.show_target(place)
