"""The panel Verdicts with a guarantee: which verdicts can be accepted with a bounded error, and the queue for
people."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Final, get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.core.acceptance import CONFIDENCE_WORDS, acceptance_words
from judgenet.core.network import AcceptanceRule, Confidence
from judgenet.core.wording import capitalized, of, plural
from judgenet.ui.elements import ComboBox, label, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.guarantee_state import GuaranteeAnswer, GuaranteeQuestion, GuaranteeState
from judgenet.ui.results.panel import Big, Panel
from judgenet.ui.results.planner import LABEL_TICKS
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Series, Tick, Upright, share_ticks
from judgenet.ui.results.what_if import Slider
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.figures.acceptance import AcceptanceFigures
    from judgenet.figures.guarantee import RunGuarantee
    from judgenet.ui.results.state import Results

_ALPHAS: Final = (1, 50)
"""The least and the largest error that can be chosen, in per cent."""
_DELTAS: Final = (("0.1", "10 %"), ("0.05", "5 %"), ("0.01", "1 %"))
_CONFIDENCES: Final[dict[Confidence, str]] = {
    "calls": texts.AGREEMENT_OF_CALLS,
    "orders": texts.AGREEMENT_OF_ORDERS,
    "neurons": texts.AGREEMENT_OF_NEURON_VOTES,
    "samples": texts.AGREEMENT_OF_SAMPLES,
    "margin": texts.MARGIN_OF_SCORES,
    "learned": texts.LEARNED_PROBABILITY,
    "entropy": texts.ENTROPY,
}
_CROWDED: Final = 0.85


class GuaranteePanel(Panel):
    """What can be guaranteed for the verdicts of the run in focus.

    Signals:
        queue_wanted: the user wants to label these pairs, given by their places in the run.
        labels_wanted: the user wants to label pairs at random.
        list_wanted: the user wants to save a list of these pairs, given by their places in the run.
    """

    queue_wanted = Signal(object)
    labels_wanted = Signal()
    list_wanted = Signal(object)

    def __init__(self, state: GuaranteeState, parent: QWidget | None = None) -> None:
        self._state = state
        self.alpha = Slider(texts.ERROR_AT_MOST_PERCENT)
        self.alpha.setRange(*_ALPHAS)
        self.alpha.setValue(round(100 * state.question.alpha))
        self.alpha_value = label("", "strong")
        self.delta = Segment(texts.RISK, _DELTAS)
        self.confidence = ComboBox(texts.CONFIDENCE_MEASURE)
        for kind in get_args(Confidence):
            self.confidence.addItem(_CONFIDENCES[kind], kind)
            self.confidence.setItemData(
                self.confidence.count() - 1, f"{CONFIDENCE_WORDS[kind]}", Qt.ItemDataRole.ToolTipRole
            )
        self.decided, self.people = Big(), Big()
        self.view = Segment(texts.CHART, (("alpha", texts.BY_ERROR), ("labels", texts.BY_LABELS)))
        self.chart = PointChart(texts.SHARE_ACCEPTED, texts.GUARANTEE_HINT)
        self.note = label("", tone="text2", wrap=True)
        self.save_button = QPushButton(texts.SAVE_RULE)
        self.queue_button = QPushButton(texts.QUEUE_FOR_PEOPLE)
        self.list_button = QPushButton(texts.SAVE_LIST)
        self.random_button = QPushButton(texts.LABEL_AT_RANDOM)
        self.kept = label("", wrap=True)
        self.remove = link("", texts.REMOVE_RULE_TIP)
        self.ran = label("", wrap=True)
        self.ran_queue = link("", texts.QUEUE_OF_RUN)
        super().__init__(texts.GUARANTEE, parent=parent)
        self._lay_out()
        self._report_acceptance: AcceptanceFigures | None = None
        self._rule_of_run: AcceptanceRule | None = None
        self.alpha.valueChanged.connect(self._ask)
        self.delta.chosen.connect(self._ask)
        self.confidence.activated.connect(self._ask)
        self.view.chosen.connect(self._fill)
        self.view.set_current("alpha")
        self.chart.chosen.connect(self._choose_alpha)
        self.save_button.clicked.connect(state.save)
        self.remove.clicked.connect(state.remove)
        self.queue_button.clicked.connect(lambda: self._queue(self.queue_wanted))
        self.list_button.clicked.connect(lambda: self._queue(self.list_wanted))
        self.random_button.clicked.connect(self.labels_wanted)
        self.ran_queue.clicked.connect(self._queue_of_run)
        state.changed.connect(self._fill)
        self._fill()

    def _make_controls(self) -> QGridLayout:
        """The names and controls of error, risk and confidence."""
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        rows: tuple[tuple[str, QWidget], ...] = (
            (texts.ERROR_AT_MOST, self.alpha),
            (texts.RISK_DELTA, self.delta),
            (texts.CONFIDENCE, self.confidence),
        )
        for row, (name, widget) in enumerate(rows):
            words = label(name, tone="text2")
            words.setBuddy(widget)
            grid.addWidget(words, row, 0)
            grid.addWidget(widget, row, 1)
        grid.addWidget(self.alpha_value, 0, 2)
        measure(grid, across=12, down=8)
        measure(self.alpha_value, font="strong", tabular=True, min_width=44)
        return grid

    def _lay_out(self) -> None:
        """Puts the controls and figures at the left, the chart at the right."""
        bigs = QHBoxLayout()
        for big in (self.decided, self.people):
            bigs.addWidget(big, 1, Qt.AlignmentFlag.AlignTop)
        queue = QHBoxLayout()
        queue.addWidget(self.queue_button)
        queue.addWidget(self.list_button)
        queue.addWidget(self.random_button)
        queue.addStretch(1)
        save = QHBoxLayout()
        save.addWidget(self.save_button)
        save.addStretch(1)
        left = QVBoxLayout()
        for part in (self._make_controls(), bigs, queue, save):
            left.addLayout(part)
        left.addWidget(self.kept)
        left.addWidget(self.remove, alignment=Qt.AlignmentFlag.AlignLeft)
        left.addStretch(1)
        head = QHBoxLayout()
        head.addWidget(self.view)
        head.addStretch(1)
        right = QVBoxLayout()
        right.addLayout(head)
        right.addWidget(self.chart, 1)
        both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        both.addLayout(left, 42)
        both.addLayout(right, 58)
        self.body.addWidget(self.ran)
        self.body.addWidget(self.ran_queue, alignment=Qt.AlignmentFlag.AlignLeft)
        self.body.addLayout(both)
        self.body.addWidget(self.note)
        measure(bigs, spacing=16)
        measure(queue, spacing=8)
        measure(save, spacing=8)
        measure(left, spacing=12)
        measure(right, spacing=4)
        measure(both, spacing=24)

    # What is asked

    def show_results(self, results: Results, *, live: bool) -> None:
        """Shows a run; ``live`` while it is running."""
        self._report_acceptance = results.report.acceptance
        self._rule_of_run = results.frame.spec.aggregation.acceptance
        self._state.look(results, live=live)
        self._fill()

    def _ask(self) -> None:
        kind: Confidence = self.confidence.currentData()
        delta = float(self.delta.current or self._state.question.delta)
        self._state.ask(GuaranteeQuestion(self.alpha.value() / 100, delta, kind))

    def _choose_alpha(self, alpha: object) -> None:
        if isinstance(alpha, float):
            self.alpha.setValue(round(100 * alpha))

    def _queue(self, signal: object) -> None:
        answer = self._state.answer
        if answer is not None and answer.queue:
            signal.emit(answer.queue)  # type: ignore[attr-defined]

    def _queue_of_run(self) -> None:
        answer = self._state.answer
        if answer is not None and answer.decided_queue:
            self.queue_wanted.emit(answer.decided_queue)

    # What is shown

    def _fill(self) -> None:
        state, answer = self._state, self._state.answer
        question = state.question
        self.alpha_value.setText(f"{100 * question.alpha:.0f} %")
        self.delta.set_current(f"{question.delta:g}")
        self.confidence.setCurrentIndex(self.confidence.findData(question.confidence))
        self._fill_run(answer)
        self._fill_project()
        answered = answer is not None
        for widget in (self.chart, self.view, self.decided, self.people):
            widget.setVisible(answered)
        if answer is None:
            for button in (self.queue_button, self.list_button, self.random_button, self.save_button):
                button.hide()
            self.say("")
            self.note.setText(
                texts.GUARANTEE_AT_THE_END if state.live else texts.COMPUTING if state.working else texts.NO_RUN
            )
            return
        self._fill_answer(answer)

    def _fill_run(self, answer: GuaranteeAnswer | None) -> None:
        decided = self._report_acceptance
        self.ran.setVisible(decided is not None)
        queue = () if answer is None else answer.decided_queue
        self.ran_queue.setVisible(bool(decided is not None and queue))
        if decided is None:
            return
        notes = [f"{capitalized(note)}." for note in decided.notes]
        missing = texts.without_verdict(decided.no_verdict) if decided.no_verdict else ""
        counts = texts.run_decided(
            of(decided.accepted, decided.n_total), decided.for_people, decided.for_people_labelled, missing
        )
        self.ran.setText(" ".join([counts, decided.words, *notes]))
        self.ran_queue.setText(texts.queue_left(plural(len(queue), "pair")))

    def _fill_project(self) -> None:
        rule = self._state.project_rule
        self.kept.setVisible(rule is not None)
        self.remove.setVisible(rule is not None)
        self.remove.setText(texts.REMOVE_RULE)
        if rule is not None:
            same = rule == self._rule_of_run
            words = texts.SAME_RULE if same else texts.rule_decides_new_runs(acceptance_words(rule))
            self.kept.setText(words)

    def _fill_answer(self, answer: GuaranteeAnswer) -> None:
        from judgenet.figures.guarantee import labels_sentence

        figures, promised = answer.figures, answer.rule is not None
        pairs = figures.pairs
        self.say(texts.labels_and_pairs(plural(pairs.labels_used, "random label"), pairs.judged, pairs.total))
        if promised and figures.share is not None:
            self.decided.say(
                f"{100 * figures.share:.0f} %",
                texts.verdicts_accepted(figures.accepted, pairs.judged, f"{figures.threshold:.4g}"),
            )
            self.people.say(f"{len(figures.for_people):,}", texts.pairs_for_people(len(answer.queue)))
        else:
            likely = pairs.labels_likely
            self.decided.say(texts.NOTHING, texts.NOTHING_WITH_THESE_LABELS)
            self.people.say(
                "–" if likely is None else f"≈ {likely:,}",
                _likely_words(figures),
            )
            self.people.setVisible(bool(figures.by_labels))
        for button in (self.queue_button, self.list_button):
            button.setVisible(promised)
            button.setEnabled(bool(answer.queue))
            button.setToolTip("" if answer.queue else texts.ALL_QUEUED_LABELLED)
        self.random_button.setVisible(not promised)
        why = self._state.why_not_save()
        self.save_button.setVisible(promised)
        self.save_button.setEnabled(not why)
        self.save_button.setToolTip(why or texts.SAVE_RULE_TIP)
        notes = [] if promised else [texts.nothing_promised(figures.reason or ""), labels_sentence(figures)]
        if promised:
            notes.append(
                texts.promise(
                    f"{100 * (1 - figures.delta):.4g}",
                    f"{100 * figures.alpha:.4g}",
                    figures.errors,
                    plural(figures.accepted_labels, "accepted label"),
                )
            )
        notes += [f"{capitalized(note)}." for note in figures.notes]
        notes.append(texts.CHOOSE_FIRST)
        if promised and why:
            notes.append(why)
        self.note.setText(" ".join(notes))
        by_alpha = self.view.current != "labels"
        self.chart.setAccessibleName(texts.SHARE_BY_ERROR if by_alpha else texts.SHARE_BY_LABELS)
        self.chart.show_picture(alpha_picture(figures) if by_alpha else labels_picture(figures))


def _likely_words(figures: RunGuarantee) -> str:
    likely, known = figures.pairs.labels_likely, figures.by_labels
    if likely is None:
        return texts.NO_NUMBER_OF_LABELS if known else texts.LABELS_FIRST
    return texts.LABELS_BEYOND_RUN if likely > known[-1].labels else texts.LABELS_MIGHT_DO


def alpha_picture(figures: RunGuarantee) -> Picture:
    """The share of verdicts that are accepted, by the largest error."""
    judged, total = figures.pairs.judged, figures.pairs.total
    by_alpha = {promise.alpha: promise for promise in figures.by_alpha}
    spots = []
    for step in range(_ALPHAS[0], _ALPHAS[1] + 1):
        alpha = round(step / 100, 2)
        promise = by_alpha.get(alpha)
        words = (
            texts.nothing_at_error(step)
            if promise is None
            else texts.accepted_at_error(
                step, of(promise.accepted, judged), f"{100 * promise.share:.0f}", of(total - promise.accepted, total)
            )
        )
        spots.append(PointMark(float(step), 0.0 if promise is None else promise.share, words, key=alpha))
    chosen = round(100 * figures.alpha)
    ring = (0, chosen - _ALPHAS[0]) if _ALPHAS[0] <= chosen <= _ALPHAS[1] else None
    ticks: tuple[Tick, ...] = tuple((float(at), f"{at} %") for at in (1, 10, 20, 30, 40, 50))
    return Picture(
        (Series("", tuple(spots), -1),),
        ticks,
        share_ticks((0.0, 1.0), from_zero=True),
        texts.ERROR_AXIS,
        uprights=(Upright(float(chosen)),),
        ring=ring,
    )


def labels_picture(figures: RunGuarantee) -> Picture:
    """The share of verdicts that are likely to be accepted, and how likely any guarantee is, by the number of
    labels."""
    share = tuple(
        PointMark(
            log10(step.labels),
            step.share,
            texts.accepted_with_labels(
                plural(step.labels, "label"),
                f"{100 * step.share:.0f}",
                plural(figures.pairs.labels_used, "label"),
                f"{100 * step.promised:.0f}",
            ),
        )
        for step in figures.by_labels
    )
    likely = tuple(PointMark(at.x, step.promised, at.words) for at, step in zip(share, figures.by_labels, strict=True))
    low, high = (min(at.x for at in share), max(at.x for at in share)) if share else (1.0, 3.0)
    ticks: tuple[Tick, ...] = tuple(
        (log10(count), f"{count:,}") for count in LABEL_TICKS if low - 0.05 <= log10(count) <= high + 0.05
    )
    series = (Series(texts.ACCEPTED, share, -1), Series(texts.ANY_PROMISE, likely, 0)) if share else ()
    have = figures.pairs.labels_used
    inside = bool(share) and have > 0 and low <= log10(have) <= high
    # Where the lines are near the top, its word would stand in them.
    clear = not any(step.promised > _CROWDED and step.labels <= 2 * have for step in figures.by_labels)
    uprights = (Upright(log10(have), right=texts.NOW if clear else ""),) if inside else ()
    return Picture(series, ticks, share_ticks((0.0, 1.0), from_zero=True), texts.LABELS_IN_ALL, uprights=uprights)
