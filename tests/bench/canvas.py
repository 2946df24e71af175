"""Measures the canvas in CPU time: QT_QPA_PLATFORM=offscreen python -m tests.bench.canvas

Medians in ms of this process's CPU time, window of 1280 × 800, the whole network in view unless said otherwise.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from judgenet.ui.canvas.model import NetworkState, NeuronState, Place
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.fonts import load_fonts
from judgenet.ui.theme import make_theme
from tests.ui.samples import busy

NETWORKS: Final = {"10 x 10": [10] * 10, "50 x 5": [50] * 5, "200 x 3": [200] * 3}
GOALS: Final = {"build": 50, "first frame": 33, "one update": 1, "50 updates": 10, "zoom step": 16, "pan": 8}


def cost(do: Callable[[int], None], times: int) -> float:
    """Median CPU time of a step and the painting that follows, in ms."""
    taken = []
    for number in range(times):
        start = time.process_time_ns()
        do(number)
        QApplication.processEvents()
        taken.append((time.process_time_ns() - start) / 1e6)
    return statistics.median(taken)


def measure(network: NetworkState) -> dict[str, float]:
    """All figures of one network."""
    theme = make_theme("light", reduce_motion=True)
    result: dict[str, float] = {}

    def build(_: int) -> None:
        NetworkScene(theme, network)

    result["build"] = cost(build, 7)
    scene = NetworkScene(theme, network)
    view = NetworkView(scene)
    view.resize(1280, 800)

    def first(_: int) -> None:
        view.show()
        view.viewport().repaint()

    start = time.process_time_ns()
    first(0)
    QApplication.processEvents()
    result["first frame"] = (time.process_time_ns() - start) / 1e6
    result["full repaint"] = cost(lambda _: view.viewport().repaint(), 15)

    widths = [len(layer.neurons) for layer in network.layers]

    def change(number: int) -> dict[Place, NeuronState]:
        layer = number % len(widths)
        place = Place(layer, (number * 7) % widths[layer])
        state = scene.state(place)
        flipped = "b" if state.verdict == "a" else "a"
        return {place: replace(state, phase="scored", verdict=flipped)}

    def one(number: int) -> None:
        scene.update_neurons(change(number))

    def fifty(number: int) -> None:
        states: dict[Place, NeuronState] = {}
        for step in range(50):
            states |= change(number * 50 + step)
        scene.update_neurons(states)

    result["one update"] = cost(one, 41)
    result["50 updates"] = cost(fifty, 15)

    def zoom(number: int) -> None:
        view.set_zoom(0.8 + 0.02 * (number % 10), QPointF(400, 300), animate=False)

    result["zoom step"] = cost(zoom, 20)
    view.set_zoom(1.0, animate=False)
    QApplication.processEvents()

    def pan(number: int) -> None:
        view.horizontalScrollBar().setValue(view.horizontalScrollBar().value() + (9 if number % 2 else -9))

    def pan_with_map(number: int) -> None:
        view.center_at(QPointF(600 + 9 * (number % 2), 300))

    result["pan"] = cost(pan, 20)
    result["pan, mini-map"] = cost(pan_with_map, 20)
    scene.select(Place(1, 3))
    QApplication.processEvents()
    result["select"] = cost(lambda number: scene.select(Place(1, number % 9)), 20)
    view.fit(animate=False)
    QApplication.processEvents()
    result["zoom from fit"] = cost(lambda n: view.set_zoom(view.zoom * (1.02 if n % 2 else 0.98), animate=False), 20)
    view.close()
    return result


def main() -> None:
    """Prints a table."""
    app = QApplication.instance() or QApplication([])
    load_fonts()
    rows = {}
    for name, widths in NETWORKS.items():
        measure(busy(widths))  # fonts and icons are made once
        rows[name] = measure(busy(widths))
    titles = list(next(iter(rows.values())))
    print(f"{'CPU ms':<16}" + "".join(f"{name:>12}" for name in rows) + f"{'goal 200x3':>14}")
    for title in titles:
        goal = f"{GOALS[title]:>14}" if title in GOALS else ""
        print(f"{title:<16}" + "".join(f"{row[title]:>12.2f}" for row in rows.values()) + goal)
    del app


if __name__ == "__main__":
    main()
