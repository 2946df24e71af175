"""The left column of the page Bias: judges, probes, settings, and the plan with its calls and price."""

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
from judgenet.core.wording import duration, money_span, of, plural, span
from judgenet.engine.bias import LAB_JUDGES
from judgenet.store.labs import LabJudge
from judgenet.ui.bias import texts
from judgenet.ui.bias.state import BiasSettings, BiasState
from judgenet.ui.elements import ComboBox, DecimalBox, ElidedLabel, SpinBox, add_row, label, line, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.results.panel import clear_layout
from judgenet.ui.widgets import set_kind

_MOST_INSTRUCTIONS: Final = 1_000_000


class BiasSidebar(QScrollArea):
    """The column at the left of the page.

    Signals:
        changed: the user changed a setting; see :meth:`choice`.
        stop_wanted: the user stops the lab.
    """

    changed = Signal()
    stop_wanted = Signal()

    def __init__(self, state: BiasState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setProperty("part", "surface")
        self.setAccessibleName(texts.WHAT_IS_MEASURED)
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
        column.addWidget(label(texts.SETTINGS, "section"))
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._make_settings()
        for text, widget in (
            (texts.INSTRUCTIONS, self.instructions),
            (texts.RANDOM_SEED, self.seed),
            (texts.OWN_SYSTEM, self.own),
            (texts.INVENTED_MAJORITY, self.share),
            (texts.REPETITIONS, self.repeats),
            (texts.MARGIN, self.margin),
        ):
            add_row(form, text, widget)
        # What is chosen in these two takes the whole width.
        for text, widget in ((texts.PERCENTAGES_BASED_ON, self.divide), (texts.RANK_IN_ONE_CALL, self.nwise)):
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
        self.instructions = SpinBox(texts.INSTRUCTIONS_TO_DRAW, 0, _MOST_INSTRUCTIONS)
        self.instructions.setSpecialValueText(texts.ALL_INSTRUCTIONS)
        self.seed = SpinBox(texts.RANDOM_SEED, 0, 2**31 - 1)
        self.own = ComboBox(texts.OWN_SYSTEM_OF_JUDGE)
        self.own.setToolTip(texts.OWN_SYSTEM_TIP)
        self.share = SpinBox(texts.INVENTED_MAJORITY_PERCENT, 1, 100)
        self.share.setSuffix(" %")
        self.share.setToolTip(texts.INVENTED_MAJORITY_TIP)
        self.repeats = SpinBox(texts.REPETITIONS_OF_A_PROMPT, 2, 20)
        self.margin = DecimalBox(texts.MARGIN_OF_NET_EFFECT, *MARGINS, decimals=3)
        self.margin.setSingleStep(0.01)
        self.margin.setToolTip(texts.MARGIN_TIP)
        self.divide = ComboBox(texts.PERCENTAGES_BASED_ON)
        for choice in (self.own, self.divide):
            choice.setMinimumContentsLength(14)
        self.divide.addItem(texts.BASED_ON_VALID_PAIRS, "valid")
        self.divide.addItem(texts.BASED_ON_ALL_PAIRS, "paper")
        self.divide.setToolTip(texts.BASED_ON_ALL_PAIRS_TIP)
        self.nwise = SpinBox(texts.RESPONSES_IN_ONE_CALL, 1, MOST)
        self.nwise.setSpecialValueText(texts.NO_RANKINGS)
        self.nwise.setSuffix(texts.RESPONSES_UNIT)
        self.nwise.setToolTip(texts.RANK_IN_ONE_CALL_TIP)
        self.tie = QCheckBox(texts.TIES_ALLOWED)

    def _add_choices(self, column: QVBoxLayout) -> None:
        column.addWidget(label(texts.JUDGES, "section"))
        titles: dict[LabJudge, str] = {
            "network": texts.NETWORK,
            "single": texts.SINGLE_JUDGE,
            "faireval": texts.FAIREVAL,
        }
        for judge, title in titles.items():
            self.judges[judge] = self._box(column, title)
        note = label(texts.LAYERS_NEED_NO_CALLS, tone="text2", wrap=True)
        column.addWidget(note)
        column.addWidget(line())
        head = QHBoxLayout()
        head.addWidget(label(texts.PROBES, "section"))
        head.addStretch(1)
        self.count = label("", tone="text2")
        head.addWidget(self.count)
        column.addLayout(head)
        for key, probe in PROBES.items():
            box = self.probes[key] = self._box(column, probe.title)
            box.setToolTip(f"{probe.tells}. {probe.source}".rstrip())
        column.addWidget(line())

    def _add_plan(self, column: QVBoxLayout) -> None:
        column.addWidget(label(texts.PLAN, "section"))
        self._facts = QGridLayout()
        self._facts.setColumnStretch(1, 1)
        column.addLayout(self._facts)
        self.left_out = label("", tone="text2", wrap=True)
        self.why = label("", tone="warn", wrap=True)
        self.reasons_link = link(texts.WHY, texts.WHY_PROBES_SKIP_PAIRS)
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
        self.bar.setAccessibleName(texts.PROGRESS)
        self.how_far = label("", tone="text2", wrap=True)
        self.stop = QPushButton(texts.STOP)
        self.stop.setAccessibleName(texts.STOP_LAB)
        set_kind(self.stop, "normal")
        self.stop.clicked.connect(self.stop_wanted)
        column.addWidget(self.bar)
        column.addWidget(self.how_far)
        column.addWidget(self.stop)
        column.addWidget(line())

    def _box(self, column: QVBoxLayout, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setAccessibleName(text)
        box.clicked.connect(self.changed)
        column.addWidget(box)
        return box

    # What is chosen

    def choice(self) -> BiasSettings:
        """The settings as the controls have them."""
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
        """Sets the controls. ``names`` are the systems that can be the judge's own."""
        # Boxes that are set by the program tell nothing.
        self._quiet(True)
        self.judges["network"].setText(texts.network(size_name(spec)))
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
        self.own.addItem(texts.NO_OWN_SYSTEM, "")
        for name in names:
            self.own.addItem(name, name)
        self.own.setCurrentIndex(max(0, self.own.findData(settings.own[0] if settings.own else "")))
        self._quiet(False)
        self.count.setText(of(len(choice.probes), len(PROBES)))

    def _quiet(self, quiet: bool) -> None:
        for widget in (*self._spins, self.own, self.divide):
            widget.blockSignals(quiet)

    @property
    def _spins(self) -> tuple[SpinBox | DecimalBox, ...]:
        return self.instructions, self.seed, self.share, self.repeats, self.margin, self.nwise

    def set_still(self, still: bool) -> None:
        """Lets the user change the settings, or not."""
        widgets = (*self._spins, self.own, self.divide, self.tie)
        for widget in (*self.judges.values(), *self.probes.values(), *widgets):
            widget.setEnabled(still)

    # What it comes to

    def show_plan(self) -> None:
        """Shows the calls, price and time of the chosen lab, or why it cannot be run."""
        state = self._state
        plan = state.plan
        why = plan.why_not or state.read_only
        self.why.setText(why)
        self.why.setVisible(bool(why) and not state.planning)
        clear_layout(self._facts)
        for widget in (self.left_out, self.reasons_link):
            widget.hide()
        self.left_out.setText("")
        self.reasons.setText("")
        self._show_reasons()
        self.count.setText(of(len(state.choice.probes), len(PROBES)))
        if plan.built is None or plan.estimate is None:
            if state.planning:
                self._fact(texts.CALCULATING, "")
            return
        lab, estimate = plan.built.lab, plan.estimate
        self._fact(texts.INSTRUCTIONS, texts.instructions_and_seed(lab.questions, lab.settings.seed))
        self._fact(texts.PAIRS, f"{lab.pairs:,}")
        self._fact(texts.PROMPTS_PER_JUDGE, f"{len(plan.built.prompts):,}")
        self._fact(texts.CALLS, span(*estimate.calls, form="whole" if estimate.calls.high < 1e6 else "short"))
        self._fact(texts.ALREADY_PAID, f"{estimate.recorded:,}")
        price = estimate.price
        currency = next(iter(estimate.judges.values())).estimate.currency
        self._fact(texts.PRICE, texts.UNKNOWN if price is None else money_span(price.low, price.high, currency))
        if plan.orders is not None:
            orders = plan.orders
            cost = texts.PRICE_UNKNOWN if orders.price is None else money_span(*orders.price, orders.currency)
            self._fact(texts.RANKINGS, f"{plural(orders.calls, 'call')}, {cost}")
        self._fact(
            texts.TIME, texts.about(duration(estimate.seconds.high)) if estimate.calls_open.high else texts.NO_TIME
        )
        reasons = [f"{PROBES[probe.key].title}: {probe.line}" for probe in lab.probes if probe.left_out]
        nothing = [PROBES[probe.key].title for probe in lab.probes if not probe.items]
        if reasons:
            parts = [texts.no_pairs_for(", ".join(nothing))] if nothing else []
            self.left_out.setText(" ".join([*parts, texts.probes_skip_pairs(len(reasons))]))
            self.reasons.setText("\n".join(reasons))
            for widget in (self.left_out, self.reasons_link):
                widget.show()
            self._show_reasons()

    def _show_reasons(self, *_: object) -> None:
        self.reasons.setVisible(self.reasons_link.isChecked() and bool(self.reasons.text()))

    def show_progress(self) -> None:
        """Shows the progress of the running lab."""
        progress = self._state.progress
        for widget in (self.bar, self.how_far, self.stop):
            widget.setVisible(progress is not None)
        if progress is not None:
            self.bar.setValue(round(1000 * progress.share))
            self.how_far.setText(texts.calls_so_far(progress.calls, plural(progress.planned, "call")))

    def _fact(self, name: str, value: str) -> None:
        row = self._facts.rowCount()
        self._facts.addWidget(label(name, tone="text2"), row, 0)
        text: QLabel = ElidedLabel(value)
        measure(text, font="body", tabular=True)
        text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._facts.addWidget(text, row, 1)
