"""Draws the canvas in every mode, form, state and theme into a folder: python -m tests.shots.canvas FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from judgenet.ui.canvas.export import network_png, network_svg
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import NetworkState, Place, Target
from judgenet.ui.canvas.paint import Look, cell_key, draw_cell, draw_neuron
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.fonts import load_fonts
from judgenet.ui.theme import Theme, make_theme
from judgenet.ui.tokens import THEME_NAMES
from tests.ui.samples import busy, design, run, states


def canvas(
    network: NetworkState,
    theme: Theme,
    size: tuple[int, int],
    *,
    select: Target | None = None,
    focus: bool = True,
    zoom: float | None = None,
) -> NetworkView:
    """A shown canvas."""
    scene = NetworkScene(theme, network)
    view = NetworkView(scene)
    scene.setParent(view)
    view.resize(*size)
    view.show()
    QApplication.processEvents()
    view.setFocus()
    if select is not None:
        scene.select(select)
        scene.show_focus(focus)
    if zoom is not None:
        view.set_zoom(zoom, animate=False)
    QApplication.processEvents()
    return view


def sheet(theme: Theme) -> QImage:
    """All states in all forms on one picture."""
    all_states = states()
    image = QImage(1200, 900, QImage.Format.Format_RGB32)
    image.fill(theme.color("canvas"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink = Ink.of(theme)
    for place, (name, state) in enumerate(all_states.items()):
        row, column = divmod(place, 6)
        x, y = 20 + column * 196, 40 + row * 140
        painter.resetTransform()
        ink.text(painter, x, y - 8, name, color="text2")
        painter.translate(QPointF(x, y))
        look = Look(selected=name == "idle", focused=name == "idle", hovered=name == "a")
        draw_neuron(painter, ink, 176, 100, state, look)
    for place, state in enumerate(all_states.values()):
        row, column = divmod(place, 7)
        painter.resetTransform()
        painter.translate(20 + column * 168, 470 + row * 76)
        draw_neuron(painter, ink, 160, 52, state)
    for place, state in enumerate(all_states.values()):
        row, column = divmod(place, 9)
        painter.resetTransform()
        painter.translate(20 + column * 130, 700 + row * 70)
        draw_neuron(painter, ink, 115, 58, state)
    for number, side in enumerate((20, 14, 9)):
        for place, state in enumerate(all_states.values()):
            painter.resetTransform()
            painter.translate(20 + place * 24 + number * 420, 860)
            draw_cell(painter, ink, QRectF(0, 0, side, side), cell_key(state))
    painter.end()
    return image


def main(folder: Path) -> None:
    """Writes all pictures."""
    app = QApplication.instance() or QApplication([])
    load_fonts()
    folder.mkdir(parents=True, exist_ok=True)
    for name in THEME_NAMES:
        theme = make_theme(name)
        sheet(theme).save(str(folder / f"states-{name}.png"))
        shots = {
            "design-4x3": canvas(design(), theme, (1008, 704), select=Place(0, 1)),
            "run-4x3": canvas(run(), theme, (880, 500), select=Place(1, 1)),
        }
        if name == "light":
            shots |= {
                "design-3x2": canvas(design((3, 3)), theme, (1008, 704)),
                "run-compact": canvas(run(), theme, (832, 360), select=Place(1, 1)),
                "run-70": canvas(run(), theme, (880, 500), select=Place(1, 1), zoom=0.7),
                "run-40": canvas(run(), theme, (880, 500), select=Place(1, 1), zoom=0.4),
                "design-70": canvas(design(), theme, (1008, 704), zoom=0.7),
                "design-40": canvas(design(), theme, (1008, 704), zoom=0.4),
                "zoomed-150": canvas(run(), theme, (1008, 704), select=Place(1, 1), zoom=1.5),
                "10x10": canvas(busy([10] * 10), theme, (1280, 800)),
                "50x5": canvas(busy([50] * 5), theme, (1280, 800)),
                "design-200x3": canvas(design((200, 200, 200)), theme, (1280, 800)),
                "4-layers": canvas(busy([6, 5, 4, 3]), theme, (1280, 800)),
            }
        if name != "contrast":
            shots["dense-200x3"] = canvas(busy([200] * 3), theme, (1048, 760), select=Place(1, 71))
            shots["dense-small"] = canvas(busy([200] * 3), theme, (1048, 480), select=Place(1, 71))
        for shot, view in shots.items():
            view.grab().save(str(folder / f"{shot}-{name}.png"))
            view.close()
    big = make_theme("light", scale=2.0)
    canvas(run(), big, (1760, 1000), select=Place(1, 1)).grab().save(str(folder / "run-200-percent.png"))
    scene = NetworkScene(make_theme("light"), run())
    network_png(scene, folder / "export.png")
    (folder / "export.svg").write_bytes(network_svg(scene))
    del app


if __name__ == "__main__":
    main(Path(sys.argv[1]))
