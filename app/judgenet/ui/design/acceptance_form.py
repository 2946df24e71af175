"""The form of the rule that accepts sure verdicts and leaves the other pairs to people."""

from __future__ import annotations

from dataclasses import replace

from judgenet.core.acceptance import acceptance_misfit, acceptance_words, asks_otherwise
from judgenet.core.aggregate import verdict_names
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection
from judgenet.ui.elements import label, link


class AcceptanceSection(FormSection):
    """What the rule guarantees, which run it was chosen on, whether it still fits, and a link that removes it."""

    def __init__(self, editor: DesignEditor) -> None:
        self.remove = link(texts.REMOVE, texts.REMOVE_GUARANTEE)
        super().__init__(texts.GUARANTEE, self.remove)
        self._editor = editor
        self.words = label("", tone="text2", wrap=True)
        self.note = label("", tone="warn", wrap=True)
        self.body.addWidget(self.words)
        self.body.addWidget(self.note)
        self.remove.clicked.connect(self._remove)

    def refresh(self) -> None:
        """Shows the rule of the network, if it has one."""
        spec = self._editor.spec
        rule = spec.aggregation.acceptance
        if rule is None:
            return
        self.words.setText(texts.chosen_on(acceptance_words(rule), rule.made) if rule.made else acceptance_words(rule))
        why = acceptance_misfit(spec, verdict_names(spec))
        if not why and asks_otherwise(spec, self._editor.context.document.profiles):
            why = texts.ASKED_OTHERWISE
        self.note.setText(why)
        self.note.setVisible(bool(why))
        self.remove.setEnabled(not self._editor.context.document.read_only)

    def _remove(self) -> None:
        spec = self._editor.spec
        rules = replace(spec.aggregation, acceptance=None)
        self._editor.context.document.edit_network(texts.REMOVE_GUARANTEE, replace(spec, aggregation=rules))
