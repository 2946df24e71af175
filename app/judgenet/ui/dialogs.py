"""Questions to the user that a coroutine waits for: dialogs are opened, never run in a loop of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)

from judgenet.ui import texts
from judgenet.ui.theme import dress


async def shown(dialog: QDialog) -> bool:
    """Opens a dialog, waits until it is closed, and says whether it was accepted. The dialog lives on."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def take(result: int) -> None:
        if not answer.done():
            answer.set_result(result)

    dress(dialog)
    dialog.finished.connect(take)
    dialog.open()
    try:
        return await answer == QDialog.DialogCode.Accepted
    finally:
        dialog.finished.disconnect(take)


async def ask_files(
    parent: QWidget, title: str, filters: Sequence[str], folder: str = "", *, several: bool = False
) -> list[Path]:
    """Asks for files that exist; none where the user cancels."""
    dialog = QFileDialog(parent, title, folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles if several else QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilters(list(filters))
    accepted = await shown(dialog)
    files = [Path(file) for file in dialog.selectedFiles()] if accepted else []
    dialog.deleteLater()
    return files


async def ask_save_file(
    parent: QWidget, title: str, filters: Sequence[str], suggestion: Path | None = None, suffix: str = ""
) -> Path | None:
    """Asks where to save; ``None`` where the user cancels. ``suffix`` (without dot) is added where there is none."""
    dialog = QFileDialog(parent, title, str(suggestion.parent) if suggestion is not None else "")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilters(list(filters))
    dialog.setDefaultSuffix(suffix)
    if suggestion is not None:
        dialog.selectFile(suggestion.name)
    accepted = await shown(dialog)
    file = Path(dialog.selectedFiles()[0]) if accepted and dialog.selectedFiles() else None
    dialog.deleteLater()
    return file


async def ask_folder(parent: QWidget, title: str, folder: str = "") -> Path | None:
    """Asks for a folder; ``None`` where the user cancels."""
    dialog = QFileDialog(parent, title, folder)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    accepted = await shown(dialog)
    chosen_folder = Path(dialog.selectedFiles()[0]) if accepted and dialog.selectedFiles() else None
    dialog.deleteLater()
    return chosen_folder


async def ask_text(parent: QWidget, title: str, question: str, text: str = "") -> str | None:
    """Asks for a line of text; ``None`` where the user cancels or leaves it empty."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(question)
    dialog.setTextValue(text)
    field = dialog.findChild(QLineEdit)
    if field is not None:
        field.setAccessibleName(question)
    accepted = await shown(dialog)
    answer = dialog.textValue().strip()
    dialog.deleteLater()
    return answer or None if accepted else None


async def ask_texts(
    parent: QWidget, title: str, fields: Sequence[tuple[str, str]], keep: str = texts.SAVE
) -> tuple[str, ...] | None:
    """Asks for several lines of text, by name and present text; ``None`` where the user cancels."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAccessibleName(title)
    form = QFormLayout(dialog)
    edits = []
    for name, text in fields:
        edit = QLineEdit(text)
        edit.setAccessibleName(name)
        edit.setMinimumWidth(edit.fontMetrics().averageCharWidth() * 48)
        form.addRow(name, edit)
        edits.append(edit)
    buttons = QDialogButtonBox()
    buttons.addButton(keep, QDialogButtonBox.ButtonRole.AcceptRole)
    buttons.addButton(texts.CANCEL, QDialogButtonBox.ButtonRole.RejectRole)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    form.addRow(buttons)
    accepted = await shown(dialog)
    answers = tuple(edit.text().strip() for edit in edits)
    dialog.deleteLater()
    return answers if accepted else None


async def confirm(parent: QWidget, title: str, text: str, yes: str, no: str) -> bool:
    """Asks before something that cannot be undone."""
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, text, QMessageBox.StandardButton.NoButton, parent)
    accept: QPushButton = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    stay = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(accept)
    box.setEscapeButton(stay)
    await shown(box)
    agreed = box.clickedButton() is accept
    box.deleteLater()
    return agreed
