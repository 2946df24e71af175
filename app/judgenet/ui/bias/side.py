"""What is measured: judges, probes and their settings, and what that comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import MARGINS
from judgenet.core.bias.nwise import MOST
from judgenet.core.network import NetworkSpec
from judgenet.core.presets import size_name
from judgenet.core.wording import duration, money_span, plural, span
from judgenet.engine.bias import LAB_JUDGES
from judgenet.store.labs import LabJudge
from judgenet.ui.bias.state import BiasSettings, BiasState
from judgenet.ui.elements import ComboBox, DecimalBox, ElidedLabel, SpinBox, add_row, label, line, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.widgets import set_kind

_MOST_INSTRUCTIONS: Final = 1_000_000
_NOBODY: Final = "none"


class BiasSidebar(QScrollArea):
    """The column at the left of the page.

    Signals:
        changed: the user chose something; see :meth:`choice`.
        stop_wanted: the lab is to end.
    """

    changed = Signal()
    stop_wanted = Signal()

    def __init__(self, state: BiasState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setProperty("part", "surface")
        self.setAccessibleName("What is measured")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        column = QVBoxLayout(inner)
        self.judges: dict[LabJudge, QCheckBox] = {}
        self.probes: dict[str, QCheckBox] = {}
        self._add_choices(column)
        self._add_plan(column)
        self._add_progress(column)
        column.addWidget(label("Settings", "section"))
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._make_settings()
        for text, widget in (
            ("Instructions", self.instructions),
            ("Random seed", self.seed),
            ("Own system", self.own),
            ("Invented majority", self.share),
            ("Repetitions", self.repeats),
            ("No-bias margin", self.margin),
        ):
            add_row(form, text, widget)
        # What is chosen in these two takes the whole width.
        for text, widget in (("Percentages based on", self.divide), ("Rank several responses in one call", self.nwise)):
            above = label(text)
            above.setBuddy(widget)
            form.addRow(above)
            form.addRow(widget)
        column.addLayout(form)
        column.addWidget(self.tie)
        self.tie.clicked.connect(self.changed)
        column.addStretch(1)
        self.setWidget(inner)
        self._column, self._form = column, form
        self._connect()
        measure(self._column, margins=(16, 12, 16, 16), spacing=Gap(8))
        measure(self._form, across=12, down=Gap(8))
        measure(self._facts, down=4)
        measure(self, width=272)
        self.show_plan()

    def _connect(self) -> None:
        for spin in self._spins:
            spin.valueChanged.connect(self.changed)
            spin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for combo in (self.own, self.divide):
            combo.currentIndexChanged.connect(self.changed)
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _make_settings(self) -> None:
        self.instructions = SpinBox("Instructions, randomly drawn", 0, _MOST_INSTRUCTIONS)
        self.instructions.setSpecialValueText("all")
        self.seed = SpinBox("Random seed", 0, 2**31 - 1)
        self.own = ComboBox("The judge's own system")
        self.own.setToolTip("The system in the pairs that is the judge's own model: the probe Own system needs it")
        self.share = SpinBox("Invented majority, per cent", 1, 100)
        self.share.setSuffix(" %")
        self.share.setToolTip("The share of people that the probe Bandwagon claims to prefer a response")
        self.repeats = SpinBox("Times each prompt is asked by the probe Repeats", 2, 20)
        self.margin = DecimalBox("Margin of the net effect for no bias", *MARGINS, decimals=3)
        self.margin.setSingleStep(0.01)
        self.margin.setToolTip(
            "A judge is said to have no bias only where an equivalence test rules out a net effect above this margin. "
            "Changing it asks nothing anew."
        )
        self.divide = ComboBox("Percentages based on")
        for choice in (self.own, self.divide):
            choice.setMinimumContentsLength(14)
        self.divide.addItem("valid pairs", "valid")
        self.divide.addItem("all pairs, as the paper's code", "paper")
        self.divide.setToolTip("All pairs: as the published code of CoBBLEr divides, unreadable answers included")
        self.nwise = SpinBox("Responses ranked in one call", 1, MOST)
        self.nwise.setSpecialValueText("no rankings")
        self.nwise.setSuffix(" responses")
        self.nwise.setToolTip("Also asks the network's model, once per instruction, to rank so many responses at once")
        self.tie = QCheckBox("Judges may call a tie")

    def _add_choices(self, column: QVBoxLayout) -> None:
        column.addWidget(label("Judges", "section"))
        titles: dict[LabJudge, str] = {
            "network": "Network",
            "single": "Single judge, same model",
            "faireval": "FairEval, 3 samples",
        }
        for judge, title in titles.items():
            self.judges[judge] = self._box(column, title)
        note = label("Layers and neurons are measured from the network's own calls.", tone="text2", wrap=True)
        column.addWidget(note)
        column.addWidget(line())
        head = QHBoxLayout()
        head.addWidget(label("Probes", "section"))
        head.addStretch(1)
        self.count = label("", tone="text2")
        head.addWidget(self.count)
        column.addLayout(head)
        for key, probe in PROBES.items():
            box = self.probes[key] = self._box(column, probe.title)
            box.setToolTip(f"{probe.tells}. {probe.source}".rstrip())
        column.addWidget(line())

    def _add_plan(self, column: QVBoxLayout) -> None:
        column.addWidget(label("Plan", "section"))
        self._facts = QGridLayout()
        self._facts.setColumnStretch(1, 1)
        column.addLayout(self._facts)
        self.left_out = label("", tone="text2", wrap=True)
        self.why = label("", tone="warn", wrap=True)
        self.reasons_link = link("Why?", "Why some probes skip pairs")
        self.reasons_link.setCheckable(True)
        self.reasons_link.toggled.connect(self._show_reasons)
        self.reasons = label("", tone="text2", wrap=True)
        row = QHBoxLayout()
        row.addWidget(self.left_out, stretch=1)
        row.addWidget(self.reasons_link, alignment=Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        column.addWidget(self.reasons)
        column.addWidget(self.why)

    def _add_progress(self, column: QVBoxLayout) -> None:
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName("Progress of the lab")
        self.how_far = label("", tone="text2", wrap=True)
        self.stop = QPushButton("Stop")
        self.stop.setAccessibleName("Stop the lab")
        set_kind(self.stop, "normal")
        self.stop.clicked.connect(self.stop_wanted)
        column.addWidget(self.bar)
        column.addWidget(self.how_far)
        column.addWidget(self.stop)
        column.addWidget(line())

    def _box(self, column: QVBoxLayout, text: str) -> QCheckBox:
        made = QCheckBox(text)
        made.setAccessibleName(text)
        made.clicked.connect(self.changed)
        column.addWidget(made)
        return made

    # What is chosen

    def choice(self) -> BiasSettings:
        """What the controls say."""
        own = self.own.currentData()
        return BiasSettings(
            judges=tuple(key for key in LAB_JUDGES if self.judges[key].isChecked()),
            probes=tuple(key for key in PROBES if self.probes[key].isChecked()),
            settings=replace(
                self._state.choice.settings,
                own=(own,) if own else (),
                share=self.share.value(),
                tie=self.tie.isChecked(),
                denominator=self.divide.currentData(),
                repeats=self.repeats.value(),
                instructions=self.instructions.value() or None,
                seed=self.seed.value(),
                margin=self.margin.value(),
            ),
            nwise=self.nwise.value() if self.nwise.value() > 1 else None,
        )

    def show_choice(self, choice: BiasSettings, names: tuple[str, ...], spec: NetworkSpec) -> None:
        """Sets the controls."""
        # Boxes that are set by the program tell nothing.
        self._quiet(True)
        self.judges["network"].setText(f"Network {size_name(spec)}")
        for judge, box in self.judges.items():
            box.setChecked(judge in choice.judges)
        for probe, box in self.probes.items():
            box.setChecked(probe in choice.probes)
        settings = choice.settings
        self.instructions.setValue(settings.instructions or 0)
        self.seed.setValue(settings.seed)
        self.share.setValue(settings.share)
        self.repeats.setValue(settings.repeats)
        self.margin.setValue(settings.margin)
        self.divide.setCurrentIndex(self.divide.findData(settings.denominator))
        self.tie.setChecked(settings.tie)
        self.nwise.setValue(choice.nwise or 1)
        self.own.clear()
        self.own.addItem(_NOBODY, "")
        for name in names:
            self.own.addItem(name, name)
        self.own.setCurrentIndex(max(0, self.own.findData(settings.own[0] if settings.own else "")))
        self._quiet(False)
        self.count.setText(f"{len(choice.probes)} of {len(PROBES)}")

    def _quiet(self, quiet: bool) -> None:
        for widget in (*self._spins, self.own, self.divide):
            widget.blockSignals(quiet)

    @property
    def _spins(self) -> tuple[SpinBox | DecimalBox, ...]:
        return self.instructions, self.seed, self.share, self.repeats, self.margin, self.nwise

    def set_still(self, still: bool) -> None:
        """Whether something can be chosen now."""
        widgets = (*self._spins, self.own, self.divide, self.tie)
        for widget in (*self.judges.values(), *self.probes.values(), *widgets):
            widget.setEnabled(still)

    # What it comes to

    def show_plan(self) -> None:
        """Shows what the choice comes to, or why it cannot be asked."""
        state = self._state
        plan = state.plan
        why = plan.why_not or state.read_only
        self.why.setText(why)
        self.why.setVisible(bool(why) and not state.planning)
        self._clear_facts()
        for widget in (self.left_out, self.reasons_link):
            widget.hide()
        self.left_out.setText("")
        self.reasons.setText("")
        self._show_reasons()
        self.count.setText(f"{len(state.choice.probes)} of {len(PROBES)}")
        if plan.built is None or plan.estimate is None:
            if state.planning:
                self._fact("Calculating …", "")
            return
        lab, estimate = plan.built.lab, plan.estimate
        self._fact("Instructions", f"{lab.questions:,}, seed {lab.settings.seed}")
        self._fact("Pairs", f"{lab.pairs:,}")
        self._fact("Prompts per judge", f"{len(plan.built.prompts):,}")
        self._fact("Calls", span(*estimate.calls, form="whole" if estimate.calls.high < 1e6 else "short"))
        self._fact("Already paid", f"{estimate.recorded:,}")
        price = estimate.price
        currency = next(iter(estimate.judges.values())).estimate.currency
        self._fact("Price", "unknown" if price is None else money_span(price.low, price.high, currency))
        if plan.orders is not None:
            orders = plan.orders
            cost = "price unknown" if orders.price is None else money_span(*orders.price, orders.currency)
            self._fact("Rankings", f"{plural(orders.calls, 'call')}, {cost}")
        self._fact("Time", f"about {duration(estimate.seconds.high)}" if estimate.calls_open.high else "none")
        reasons = [f"{PROBES[of.key].title}: {of.line}" for of in lab.probes if of.left_out]
        nothing = [PROBES[of.key].title for of in lab.probes if not of.items]
        if reasons:
            without = f"No pairs for {', '.join(nothing)}. " if nothing else ""
            some = "1 probe skips" if len(reasons) == 1 else f"{len(reasons)} probes skip"
            self.left_out.setText(f"{without}{some} some pairs.")
            self.reasons.setText("\n".join(reasons))
            for widget in (self.left_out, self.reasons_link):
                widget.show()
            self._show_reasons()

    def _show_reasons(self, *_: object) -> None:
        self.reasons.setVisible(self.reasons_link.isChecked() and bool(self.reasons.text()))

    def show_progress(self) -> None:
        """Shows how far the lab is that goes on."""
        progress = self._state.progress
        for widget in (self.bar, self.how_far, self.stop):
            widget.setVisible(progress is not None)
        if progress is not None:
            self.bar.setValue(round(1000 * progress.share))
            self.how_far.setText(f"{progress.calls:,} of about {plural(progress.planned, 'call')}")

    def _clear_facts(self) -> None:
        while (item := self._facts.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def _fact(self, name: str, value: str) -> None:
        row = self._facts.rowCount()
        self._facts.addWidget(label(name, tone="text2"), row, 0)
        text: QLabel = ElidedLabel(value)
        measure(text, font="body", tabular=True)
        text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._facts.addWidget(text, row, 1)
