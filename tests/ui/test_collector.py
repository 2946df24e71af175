"""Garbage with Qt objects in it is collected on the interface's thread, whoever makes more of it."""

from __future__ import annotations

import gc
import threading

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from judgenet.ui.app import Studio, make_app
from judgenet.ui.collector import Collector
from tests.ui.conftest import until


class Looped:
    """A part of a cycle that says on which thread it ended."""

    def __init__(self, ended: list[threading.Thread]) -> None:
        self.ended = ended
        self.timer = QTimer()
        self.timer.setInterval(5)
        self.timer.start()
        self.me = self

    def __del__(self) -> None:
        self.ended.append(threading.current_thread())


async def test_cycles_end_on_the_interfaces_thread(studio: Studio) -> None:
    ended: list[threading.Thread] = []
    for _ in range(50):
        Looped(ended)
    stop = threading.Event()

    def allocate() -> None:
        kept: list[object] = []
        while not stop.is_set():
            kept.append([[] for _ in range(100)])
            if len(kept) > 200:
                kept.clear()

    threads = [threading.Thread(target=allocate) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        await until(lambda: len(ended) == 50, "the cycles are collected")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert set(ended) == {threading.main_thread()}
    assert not gc.isenabled()


async def test_one_collector_serves_all_windows(studio: Studio, qapp: QApplication) -> None:
    make_app()
    assert len(qapp.findChildren(Collector)) == 1
