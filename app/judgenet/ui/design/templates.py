"""The editor of the prompt templates; the inspector beside it shows the prompt that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.prompts import PromptBook, PromptError
from judgenet.core.templates import placeholders
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.elements import field, icon_button, label, link
from judgenet.ui.measures import measure

WAIT_MS: Final = 400
"""How long typing is gathered before the text goes into the project."""
_NAME: Final = Qt.ItemDataRole.UserRole

LANGUAGE_WORDS: Final = {"en": texts.ENGLISH, "zh": texts.CHINESE}

GROUPS: Final = {
    "system": texts.SYSTEM_GROUP,
    "opening": texts.OPENING_GROUP,
    "block": texts.TEXTS_GROUP,
    "roles": texts.ROLES_GROUP,
    "judge": texts.JUDGE_GROUP,
    "heard": texts.HEARD_GROUP,
    "own": texts.OWN_GROUP,
    "missing": texts.MISSING_GROUP,
    "families": texts.FAMILIES_GROUP,
    "shown": texts.BIAS_GROUP,
    "no_tie": texts.NO_TIE_GROUP,
    "ranking": texts.RANKING_GROUP,
}
"""The headings of the list, by the first part of a template's name."""

TITLES: Final = {
    "judge.evidence": texts.EVIDENCE_QUESTION,
    "judge.scores": texts.SCORES_QUESTION,
    "judge.json_evidence": texts.JSON_EVIDENCE_FORM,
    "judge.json_scores": texts.JSON_SCORES_FORM,
    "judge.text_evidence": texts.TEXT_EVIDENCE_FORM,
    "judge.text_scores": texts.TEXT_SCORES_FORM,
    "roles.ask": texts.QUESTION,
    "roles.json": texts.JSON_FORM,
    "roles.text": texts.TEXT_FORM,
}
"""The titles of templates whose names do not say enough."""


def title_of(name: str) -> tuple[str, str, str]:
    """Language, heading and title of a template, from its name, such as ``en.frame.judge.evidence``."""
    language, file, *rest = name.split(".")
    if file == "families":
        return LANGUAGE_WORDS.get(language, language), GROUPS["families"], " – ".join(map(_words, rest))
    group = GROUPS.get(rest[0], _words(rest[0]))
    title = TITLES.get(".".join(rest)) or _words(".".join(rest[1:]) or rest[0])
    return LANGUAGE_WORDS.get(language, language), group, title


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", ", ").capitalize()


class TemplateEditor(QWidget):
    """The list of templates, and the text of the chosen one.

    Signals:
        closed: the user closed the editor.
    """

    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._name = ""
        self._quiet = False
        self._leaves: list[QTreeWidgetItem] = []
        self.setAccessibleName(texts.TEMPLATES_NAME)
        self.filter = field(texts.FIND_TEMPLATE, texts.FIND_TEMPLATE_HINT)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setAccessibleName(texts.TEMPLATES)
        self.text = QPlainTextEdit()
        self.text.setProperty("type", "mono")
        self.text.setAccessibleName(texts.TEMPLATE_TEXT)
        self.title = label("", "section")
        self.known = label("", tone="text2", wrap=True)
        self.problem = label("", tone="warn", wrap=True)
        self.reset = link(texts.RESET_TEMPLATE)
        self.close_button = icon_button("close", texts.CLOSE_TEMPLATES)
        self.close_button.setToolTip(texts.CLOSE_TEMPLATES_TIP)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self.apply)
        self.filter.textChanged.connect(self._fill)
        self.tree.currentItemChanged.connect(self._chosen)
        self.text.textChanged.connect(self._edited)
        self.reset.clicked.connect(self._reset)
        self.close_button.clicked.connect(self._close)
        context.document.project_changed.connect(self._project_changed)
        measure(self._column, margins=(24, 16, 24, 16), spacing=12)
        measure(self.close_button, icon=20)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(label(texts.TEMPLATES, "title"))
        head.addStretch(1)
        head.addWidget(self.close_button)
        left = QWidget()
        left_column = QVBoxLayout(left)
        left_column.setContentsMargins(0, 0, 0, 0)
        left_column.addWidget(self.filter)
        left_column.addWidget(self.tree, stretch=1)
        right = QWidget()
        right_column = QVBoxLayout(right)
        right_column.setContentsMargins(0, 0, 0, 0)
        title_row = QHBoxLayout()
        title_row.addWidget(self.title)
        title_row.addStretch(1)
        title_row.addWidget(self.reset)
        right_column.addLayout(title_row)
        right_column.addWidget(self.known)
        right_column.addWidget(self.text, stretch=1)
        right_column.addWidget(self.problem)
        right_column.addWidget(
            label(
                texts.TEMPLATES_NOTE,
                tone="text2",
                wrap=True,
            )
        )
        self._splitter = QSplitter()
        self._splitter.addWidget(left)
        self._splitter.addWidget(right)
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 3)
        self._splitter.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self._splitter, stretch=1)
        measure(left_column, margins=(0, 0, 12, 0), spacing=8)
        measure(right_column, margins=(12, 0, 0, 0), spacing=8)
        self._column = column

    @property
    def _book(self) -> PromptBook:
        """The templates in force: those of the project; the shipped ones where the project's are invalid."""
        try:
            return PromptBook.default().edited(self._context.document.project.prompts)
        except PromptError as error:
            self._context.errors.post_exception(error)
            return PromptBook.default()

    def open(self, name: str = "") -> None:
        """Shows the templates and chooses one by name; without a name the last one."""
        self._fill()
        self.show_template(name or self._name or "en.frame.judge.evidence")
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_template(self, name: str) -> None:
        """Chooses a template by its name."""
        for item in self._leaves:
            if item.data(0, _NAME) == name:
                self.tree.setCurrentItem(item)
                self.tree.scrollToItem(item)

    def _fill(self, _text: str = "") -> None:
        wanted = self.filter.text().casefold().split()
        book, changed = self._book, self._context.document.project.prompts
        self.tree.blockSignals(True)
        self.tree.clear()
        self._leaves = []
        groups: dict[tuple[str, ...], QTreeWidgetItem] = {}
        for name in book.names():
            language, group, title = title_of(name)
            content = f"{language} {group} {title} {name} {book.text(name)}".casefold()
            if not all(word in content for word in wanted):
                continue
            for path in ((language,), (language, group)):
                if path not in groups:
                    parent = groups.get(path[:-1])
                    heading = QTreeWidgetItem([path[-1]])
                    if parent is None:
                        self.tree.addTopLevelItem(heading)
                    else:
                        parent.addChild(heading)
                    groups[path] = heading
                    heading.setExpanded((len(path) == 1 and language == texts.ENGLISH) or bool(wanted))
            item = QTreeWidgetItem([texts.changed_template(title) if name in changed else title])
            item.setData(0, _NAME, name)
            item.setToolTip(0, name)
            groups[language, group].addChild(item)
            self._leaves.append(item)
        self.tree.blockSignals(False)

    def _chosen(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None = None) -> None:
        name = None if item is None else item.data(0, _NAME)
        if not isinstance(name, str):
            return
        self.apply()
        self._name = name
        self._show()

    def _show(self) -> None:
        name = self._name
        if not name:
            return
        language, group, title = title_of(name)
        self.title.setText(title)
        self.title.setToolTip(name)
        names = ", ".join(f"{{{{{placeholder}}}}}" for placeholder in placeholders(name))
        self.known.setText(
            texts.template_place(language, group.lower())
            + (texts.placeholders(names) if names else texts.NO_PLACEHOLDER)
        )
        self._show_text(self._book.text(name))
        self.problem.hide()
        self.reset.setVisible(name in self._context.document.project.prompts)
        self.text.setReadOnly(bool(self._context.document.read_only))

    def _show_text(self, text: str) -> None:
        if text.strip() != self.text.toPlainText().strip():
            self._quiet = True
            self.text.setPlainText(text)
            self._quiet = False

    def _edited(self) -> None:
        if not self._quiet:
            self._timer.start()

    def apply(self) -> None:
        """Puts the edited text into the project, or shows why it is invalid."""
        self._timer.stop()
        name = self._name
        if not name or self._context.document.read_only:
            return
        project = self._context.document.project
        text = self.text.toPlainText().strip()
        if text == self._book.text(name).strip():
            self.problem.hide()
            return
        prompts = {key: body for key, body in project.prompts.items() if key != name}
        if text != PromptBook.default().text(name).strip():
            prompts[name] = text
        try:
            PromptBook.default().edited(prompts)
        except PromptError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self.problem.hide()
        self._change_prompts(prompts)

    def _change_prompts(self, prompts: Mapping[str, str]) -> None:
        project = self._context.document.project
        self._context.document.edit_project(
            texts.EDIT_TEMPLATE_TEXT, replace(project, prompts=dict(prompts)), merge=f"template {self._name}"
        )

    def _reset(self) -> None:
        self._timer.stop()
        prompts = {name: text for name, text in self._context.document.project.prompts.items() if name != self._name}
        self._change_prompts(prompts)
        self._show()

    def _close(self) -> None:
        self.apply()
        self.closed.emit()

    def _project_changed(self) -> None:
        if not self.isVisible():
            return
        changed = self._context.document.project.prompts
        self.reset.setVisible(self._name in changed)
        for item in self._leaves:
            name = str(item.data(0, _NAME))
            title = title_of(name)[2]
            item.setText(0, texts.changed_template(title) if name in changed else title)
        if not self._timer.isActive():
            self._show()
