"""The actions on selected pairs: leave out, include again, edit, restore, copy the id, show in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QWidget,
)

from judgenet.core.pair_edits import TEXT_FIELDS, EditedField, PairEdits, edit_pair, without_edits
from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.engine.setup import noted
from judgenet.ui.actions import Enabled, known_action
from judgenet.ui.context import Context
from judgenet.ui.data import texts
from judgenet.ui.data.browse_view import BrowseView
from judgenet.ui.data.edit_pair import LabelDialog, TextDialog, ask_values
from judgenet.ui.text_view import one_line

_ROW_ACTIONS: Final = (
    "data.leave_out",
    "data.take_in",
    "",
    "data.edit_label",
    "data.edit_text",
    "data.restore",
    "",
    "data.copy_id",
    "data.show_run",
)
"""The menu of the rows; an empty name is a separator."""


def _named(pairs: Sequence[Pair]) -> str:
    """Pairs in words: a single one by its id, several by their number."""
    return texts.pair_named(one_line(pairs[0].id, 40)) if len(pairs) == 1 else plural(len(pairs), "pair")


class PairActions(QObject):
    """Adds the actions on the pairs selected in the table, and carries them out.

    Attributes:
        menu: the actions as a menu.
    """

    def __init__(
        self,
        context: Context,
        browse: BrowseView,
        page: QWidget,
        in_view: Enabled,
        can_change: Enabled,
    ) -> None:
        """``in_view`` says whether the pairs are in view, ``can_change`` whether they can be changed, or why not."""
        super().__init__(page)
        self._context = context
        self._browse = browse
        self._page = page
        self._in_view = in_view
        self._can_change = can_change
        context.actions.add(
            known_action("data.leave_out", self._leave_out, self._can_leave_out, scope=page),
            known_action("data.take_in", self._include_again, self._can_include_again),
            known_action("data.edit_label", self._edit_label, self._can_edit, scope=page),
            known_action("data.edit_text", self._edit_text, self._can_edit_text, scope=page),
            known_action("data.restore", self._restore, self._can_restore),
            known_action("data.copy_id", self._copy_id, self._has_selection),
            known_action("data.show_run", self._show_run, self._can_show_run),
        )
        self.menu = QMenu(texts.PAIRS, page)
        for name in _ROW_ACTIONS:
            if name:
                self.menu.addAction(context.actions.qaction(name))
            else:
                self.menu.addSeparator()

    def _has_selection(self) -> bool | str:
        if self._in_view() is not True:
            return self._in_view()
        return bool(self._browse.table.selected_positions) or texts.SELECT_PAIRS

    def _can_edit(self) -> bool | str:
        if self._has_selection() is not True:
            return self._has_selection()
        return self._can_change()

    def _can_edit_text(self) -> bool | str:
        if self._can_edit() is not True:
            return self._can_edit()
        return len(self._browse.table.selected_positions) == 1 or texts.SELECT_ONE

    def _can_leave_out(self) -> bool | str:
        return self._can_edit() if self._selected_of(left_out=False) else texts.SELECT_NOT_LEFT_OUT

    def _can_include_again(self) -> bool | str:
        return self._can_edit() if self._selected_of(left_out=True) else texts.NONE_LEFT_OUT

    def _can_restore(self) -> bool | str:
        source = self._context.document.project.pairs
        edits = {} if source is None else source.edits
        changed = self._has_selection() is True and any(pair.id in edits for pair in self._browse.selection)
        return self._can_edit() if changed else texts.NONE_CHANGED

    def _can_show_run(self) -> bool | str:
        if self._has_selection() is not True:
            return self._has_selection()
        return self._browse.run_indexes() != () or texts.NONE_IN_RUN

    def _selected_of(self, *, left_out: bool) -> tuple[str, ...]:
        """The ids of the selected pairs that are left out of the run, or of those that are not."""
        source = self._context.document.project.pairs
        if source is None or self._in_view() is not True:
            return ()
        known = set(source.selection.left_out)
        return tuple(pair.id for pair in self._browse.selection if (pair.id in known) is left_out)

    def open_menu(self, place: QPoint) -> None:
        """Opens the menu of the selected pairs; ``place`` is in px of the screen."""
        self._context.actions.refresh()
        self.menu.popup(place)

    def _leave_out(self) -> None:
        ids = self._selected_of(left_out=False)
        source = self._context.document.project.pairs
        if source is not None and ids:
            known = (*source.selection.left_out, *ids)
            if len(self._context.document.pairs) <= len(set(ids) & {pair.id for pair in self._context.document.pairs}):
                self._context.errors.post(texts.NONE_TO_JUDGE, texts.LEAVE_OUT, level="warning")
                return
            self._select(texts.leave_out(plural(len(ids), "pair")), known)

    def _include_again(self) -> None:
        ids = set(self._selected_of(left_out=True))
        source = self._context.document.project.pairs
        if source is not None and ids:
            still_out = tuple(pair_id for pair_id in source.selection.left_out if pair_id not in ids)
            self._select(texts.include_again(plural(len(ids), "pair")), still_out)

    def _select(self, text: str, left_out: tuple[str, ...]) -> None:
        document = self._context.document
        source = document.project.pairs
        if source is not None:
            selection = replace(source.selection, left_out=left_out)
            document.edit_project(text, replace(document.project, pairs=replace(source, selection=selection)))

    def _edit_label(self) -> None:
        pairs = self._browse.selection
        dialog = LabelDialog(pairs, self._page.window())
        self._context.tasks.start(self._ask_and_edit(dialog, pairs, texts.EDIT_LABEL), texts.EDIT_THE_LABEL)

    def _edit_text(self) -> None:
        pairs = self._browse.selection
        dialog = TextDialog(pairs[0], self._page.window())
        self._context.tasks.start(self._ask_and_edit(dialog, pairs, texts.EDIT_TEXTS), texts.EDIT_TEXTS_TITLE)

    async def _ask_and_edit(self, dialog: LabelDialog | TextDialog, pairs: tuple[Pair, ...], text: str) -> None:
        before = self._context.document.dataset
        values = await ask_values(dialog)
        if values and before is self._context.document.dataset:
            self._edit(texts.edit_of(text, _named(pairs)), pairs, values)

    def _edit(self, text: str, pairs: tuple[Pair, ...], values: Mapping[EditedField, str | None]) -> None:
        """Gives pairs other values, in one step of Undo."""
        source, dataset = self._context.document.project.pairs, self._context.document.dataset
        if source is None or dataset is None:
            return
        edits = source.edits
        for pair in pairs:
            edits = edit_pair(edits, pair, values)
        changed = {pair.id: replace(pair, **values) for pair in pairs}  # type: ignore[arg-type]
        self._replace_pairs(text, changed, edits)
        if any(field in values for field in TEXT_FIELDS):
            self._context.errors.post(
                texts.TEXT_CHANGED,
                _named(pairs),
                level="note",
            )

    def _restore(self) -> None:
        source = self._context.document.project.pairs
        if source is None:
            return
        pairs = tuple(pair for pair in self._browse.selection if pair.id in source.edits)
        ids = {pair.id for pair in pairs}
        edits = {pair_id: known for pair_id, known in source.edits.items() if pair_id not in ids}
        originals = {pair.id: without_edits(pair, source.edits) for pair in pairs}
        self._replace_pairs(texts.restore(_named(pairs)), originals, edits)

    def _replace_pairs(self, text: str, pairs: Mapping[str, Pair], edits: PairEdits) -> None:
        document = self._context.document
        source, dataset = document.project.pairs, document.dataset
        if source is None or dataset is None:
            return
        changed = replace(dataset, pairs=tuple(pairs.get(pair.id, pair) for pair in dataset.pairs))
        # The data set carries a note about edited pairs, which is written again.
        document.edit_pairs(text, replace(source, edits=edits), noted(changed, edits))

    def _copy_id(self) -> None:
        QApplication.clipboard().setText("\n".join(pair.id for pair in self._browse.selection))

    def _show_run(self) -> None:
        indexes = self._browse.run_indexes()
        self._context.navigator.go("run", pairs=indexes, why=texts.SELECTED_ON_DATA)
