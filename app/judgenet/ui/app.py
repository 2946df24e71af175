"""Starts the studio: the application, its event loop, and the handler of uncaught errors."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn

import qasync
from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from judgenet.store.recovery import ended_sessions, log_file
from judgenet.store.secrets import SecretFilter
from judgenet.ui import texts
from judgenet.ui.app_window import AppWindow
from judgenet.ui.collector import collect_on_this_thread
from judgenet.ui.errors import MessageButton
from judgenet.ui.icons import icon_pixmap
from judgenet.ui.settings import StudioSettings
from judgenet.ui.theme import ThemeManager
from judgenet.version import __version__

log = logging.getLogger("judgenet.ui")

_QUIET: Final = ("This plugin does not support ",)
"""Messages of Qt about the offscreen platform that are not worth a line in the log."""

FIRST_PAGE_MS: Final = 150
"""Delay in ms after the window is shown until the pages that are not in view are made."""

_LEVELS: Final = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    """Writes Qt's messages to the log."""
    if not text.startswith(_QUIET):
        logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s", text)


class Uncaught(QObject):
    """Receives uncaught exceptions of any thread and emits them on the interface's thread.

    Signals:
        happened: the exception.
    """

    happened = Signal(object)

    def install(self) -> None:
        """Installs the handler in Python's hooks."""
        sys.excepthook = self._main
        threading.excepthook = self._thread
        sys.unraisablehook = self._unraisable

    @staticmethod
    def remove() -> None:
        """Puts Python's own hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__

    def _main(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            sys.__excepthook__(kind, error, trace)
            return
        self.happened.emit(error)

    def _thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            self.happened.emit(args.exc_value)

    def _unraisable(self, args: Any) -> None:
        log.error("unraisable in %r: %r", args.object, args.exc_value)


class Signals(QObject):
    """Closes the window when the system asks the program to end.

    Python hears of a signal only when it runs; the byte that the system writes then wakes Qt's loop.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        super().__init__()
        self._end = end
        self._asked = False
        self._read, self._write = socket.socketpair()
        for end_of in (self._read, self._write):
            end_of.setblocking(False)
        self._before = signal.set_wakeup_fd(self._write.fileno())
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        names = [name for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
        numbers = [signal.Signals[name] for name in names]
        # One that is ignored (nohup) stays so.
        self._numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        for number in self._numbers:
            signal.signal(number, self._heard)

    def _heard(self, _number: int, _frame: Any) -> None:
        self._asked = True

    def _woken(self) -> None:
        with contextlib.suppress(OSError):
            self._read.recv(64)
        if self._asked:
            self._asked = False
            self._end()

    def close(self) -> None:
        """Restores the signal handlers of before."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before)
        for number in self._numbers:
            signal.signal(number, signal.SIG_DFL)
        for end in (self._read, self._write):
            end.close()


class Studio:
    """The application with its window. One per program."""

    def __init__(self, app: QApplication, on_closed: Callable[[], None] = lambda: None) -> None:
        self.settings = StudioSettings()
        chosen = self.settings.preferences
        self.theme = ThemeManager(
            app,
            choice=chosen.theme,
            scale=chosen.scale,
            density=chosen.density,
            reduce_motion=chosen.reduce_motion,
        )
        self.window = AppWindow(self.theme, self.settings, on_closed)
        self.uncaught = Uncaught()
        self.uncaught.happened.connect(self._tell)

    def _tell(self, error: BaseException) -> None:
        self.window.errors.post_exception(error)

    async def close(self) -> None:
        """Stops and saves everything, and takes the window down while all that it calls is still there."""
        await self.window.shut_down()
        self.window.hide()
        self.window.deleteLater()
        QApplication.sendPostedEvents(self.window, QEvent.Type.DeferredDelete)
        # A theme left behind would put a second focus ring into the next studio of this program.
        self.theme.deleteLater()
        QApplication.sendPostedEvents(self.theme, QEvent.Type.DeferredDelete)

    def show(self, project: Path | None, *, example: bool = False) -> None:
        """Shows the window with a project, with the example running, or with the welcome page; and what a crash left
        behind."""
        self.window.show()
        QTimer.singleShot(FIRST_PAGE_MS, self.window, self.window.load_pages)
        ended = ended_sessions()
        if project is not None:
            self.window.frame_actions.open_file(project)
        elif example:
            self.window.frame_actions.runs.run_example()
        for session in ended:
            if not session.file.exists():
                continue
            if self.window.context.document.file == session.file:
                self.window.errors.post(
                    texts.REOPENED_AS_AT_THE_LAST_CHANGE,
                    session.file.name,
                    level="note",
                )
            else:
                open_it = partial(self.window.frame_actions.open_file, session.file)
                self.window.errors.post(
                    texts.ENDED_WITHOUT_CLOSING,
                    session.file.name,
                    MessageButton(texts.OPEN_IT, open_it),
                    level="note",
                )


def keep_log() -> None:
    """Keeps warnings and errors in ``judgenet.log`` in the user's state folder, without secrets."""
    try:
        file = log_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(file, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    except OSError as error:
        log.warning("There is no log: %s", error)
        return
    handler.setLevel(logging.WARNING)
    handler.addFilter(SecretFilter())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)


def make_app(arguments: Sequence[str] = ()) -> QApplication:
    """The application object."""
    qInstallMessageHandler(qt_message)
    QApplication.setApplicationName(texts.JUDGENET)
    QApplication.setApplicationDisplayName(texts.JUDGENET_STUDIO)
    QApplication.setApplicationVersion(__version__)
    QApplication.setDesktopFileName("judgenet")
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["judgenet", *arguments])
    collect_on_this_thread(app)
    # The window ends the program itself, after everything is stopped and saved.
    app.setQuitOnLastWindowClosed(False)
    app.setWindowIcon(QIcon(icon_pixmap("design", "#5746C6", 64)))
    return app


def _end_without_screen() -> NoReturn:
    """Ends the program at once. Qt stops its loop where the connection to the screen breaks; a run must not go on, and
    be paid for, without a window. All that was answered is in the store, as after a crash."""
    log.error(texts.SCREEN_LOST)
    logging.shutdown()
    os._exit(1)


def open_studio(project: Path | None = None, *, example: bool = False) -> int:
    """Opens the window, with a project or with the example running, and returns when it is closed: 0."""
    keep_log()
    app = make_app()
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)

    async def live() -> None:
        closed = asyncio.Event()
        studio = Studio(app, closed.set)
        studio.uncaught.install()
        signals = Signals(studio.window.end)
        try:
            studio.show(project, example=example)
            await closed.wait()
            await studio.close()
        finally:
            signals.close()
            studio.uncaught.remove()

    life = loop.create_task(live())
    try:
        loop.run_until_complete(life)
    except RuntimeError:
        if life.done():
            raise
        _end_without_screen()
    finally:
        loop.close()
        asyncio.set_event_loop(None)
    return 0
