"""How sure the network is and what a review by people gains; whether the layers become alike, and what they change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from judgenet.core.wording import of, percent, percent_interval, plural, points, ratio
from judgenet.figures.people import AmongPeople
from judgenet.report.selection import Overturned
from judgenet.store.db import Store
from judgenet.ui.context import Context
from judgenet.ui.elements import label
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.results import texts
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, share_series, share_ticks, shares_of
from judgenet.ui.results.state import Results
from judgenet.ui.tasks import Job

if TYPE_CHECKING:
    from judgenet.figures.trust import LayerDiscussion, RunDiversity, Uncertainty
    from judgenet.stats.means import Mean

SAMPLED: Final = 60
"""The evidence of so many pairs is compared."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """The ``count`` pairs of which the network is least sure."""

    count: int


@dataclass(frozen=True, slots=True)
class Divided:
    """The pairs on which the neurons of a layer (from 1) differ."""

    layer: int


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a run's judges can be trusted. ``unsure`` are the places of the judged pairs, the least sure first;
    ``divided`` has by layer those on which its neurons differ."""

    figures: Uncertainty
    diversity: RunDiversity
    discussion: tuple[LayerDiscussion, ...]
    unsure: tuple[int, ...]
    divided: Mapping[int, tuple[int, ...]]

    def pairs(self, chosen: Unsure | Divided) -> tuple[int, ...]:
        """The places in the run of the pairs of a selection."""
        if isinstance(chosen, Unsure):
            return self.unsure[: chosen.count]
        return self.divided.get(chosen.layer, ())


class Trusting(QObject):
    """Computes a finished run's :class:`Trust` in a thread, with progress and a stop in the status bar.

    Signals:
        changed: :attr:`trust` came or went, or :attr:`why` changed.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.trust: Trust | None = None
        self.why = ""
        self.working = False
        self._latest = LatestComputation(context)
        context.document.opened.connect(self.forget)

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._latest.forget()
        self.trust, self.working = None, False
        self.changed.emit()

    def look(self, results: Results, *, live: bool) -> None:
        """Computes the figures of a run, unless they are there; not while it is running."""
        store = self._context.document.store
        report = results.report
        key = (
            results.run.id,
            results.run.finished_at,
            report.data.finished,
            results.labels_key,
            report.decides,
            results.rules,
        )
        if live:
            # What was computed before is of another run, or of this one when it had fewer pairs.
            self.why = texts.CALCULATED_AT_THE_END
            self.forget()
            return
        if store is None or not self._latest.is_new(key):
            return
        self.trust, self.working, self.why = None, True, texts.CALLS_ARE_READ
        self.changed.emit()
        self._latest.start_job(
            texts.CALCULATE_CERTAINTY,
            partial(_trust, store, results),
            partial(self._end, why=""),
            about=results.run.id,
            stopped=partial(self._end, None, texts.STOPPED),
            refuse=partial(self._end, None),
        )

    def _end(self, trust: Trust | None, why: str) -> None:
        self.trust, self.working, self.why = trust, False, why
        self.changed.emit()


def _trust(store: Store, results: Results, job: Job) -> Trust:
    import numpy as np

    from judgenet.figures.trust import discussion, diversity, uncertainty, uncertainty_figures, with_evidence
    from judgenet.store.taught import fair_frame

    frame = fair_frame(store, results.run, results.rules)
    job.share_is(0.4)
    decides = results.report.decides
    figures = uncertainty_figures(frame, decides, target=results.people.review.target)
    job.share_is(0.6)
    alike = with_evidence(diversity(frame), frame, store, results.run, SAMPLED)
    job.share_is(0.8)
    said = frame.aggregations[decides]
    entropy = uncertainty(frame)
    order = np.argsort(-np.nan_to_num(entropy, nan=np.inf), kind="stable")
    divided = {}
    for layer in range(1, frame.spec.depth + 1):
        codes = frame.neurons[:, frame.columns_of(layer)]
        seen = [(codes == code).any(axis=1).astype(int) for code in (1, 2, 3)]
        divided[layer] = tuple(int(place) for place in np.flatnonzero(sum(seen) > 1))
    return Trust(
        figures=figures,
        diversity=alike,
        discussion=discussion(frame),
        unsure=tuple(int(place) for place in order if said[place] > 0),
        divided=divided,
    )


class ReviewPanel(Panel):
    """Accuracy against the share of pairs that people review, the least sure first.

    Signals:
        chosen: :class:`Unsure`, the pairs that a mark stands for.
    """

    chosen = Signal(object)

    def __init__(self, trusting: Trusting, parent: QWidget | None = None) -> None:
        self._trusting = trusting
        self.chart = PointChart(texts.ACCURACY_BY_REVIEW)
        self.words = label("", tone="text2", wrap=True)
        self.people = label("", tone="text2", wrap=True)
        super().__init__(texts.REVIEW, parent=parent)
        self.body.addWidget(self.chart, 1)
        self.body.addWidget(self.words)
        self.body.addWidget(self.people)
        self._people: AmongPeople | None = None
        self.chart.chosen.connect(self.chosen)
        trusting.changed.connect(self._fill)

    def show_people(self, people: AmongPeople) -> None:
        """Sets how annotators agree with each other."""
        self._people = people
        self._fill()

    def _fill(self) -> None:
        trust, people = self._trusting.trust, self._people
        curve = None if trust is None else trust.figures.review
        self.chart.setVisible(curve is not None and bool(curve.points))
        self.people.setText("" if people is None else people_words(people))
        if trust is None or curve is None or not curve.points:
            self.say("")
            self.words.setText(
                texts.no_review(curve.reason) if curve is not None and curve.reason else self._trusting.why
            )
            return
        target = None if trust.figures.need is None else trust.figures.need.target
        self.chart.show_picture(review_picture(trust, target))
        self.say(texts.labelled(of(curve.n, curve.n_total)))
        sentences = []
        if curve.gain is not None:
            sentences.append(texts.gain_of_review(points(curve.gain)))
        need = trust.figures.need
        if need is not None and need.measured is not None:
            sentences.append(
                texts.review_needed(percent(need.target), percent(need.measured), percent_interval(need.interval))
            )
        elif need is not None:
            sentences.append(texts.no_share_to_review(need.reasons.get("measured", "")))
        sentences.append(texts.REVIEWED_PAIRS)
        self.words.setText(" ".join(sentences))


def people_words(people: AmongPeople) -> str:
    """How annotators agree with each other, and how much review would still be needed."""
    panel, review = people
    if panel.h.value is None:
        return texts.NO_TWO_ANNOTATORS
    sentences = [
        texts.annotators_agree(
            len(panel.raters),
            percent(panel.h.value),
            plural(panel.h.n, "pair"),
            ratio(panel.alpha_nominal.value),
            ratio(panel.alpha_ordinal.value),
            ratio(panel.fleiss.value),
        )
    ]
    if review.saved is not None:
        sentences.append(texts.annotation_saved(percent(review.saved)))
    elif review.reason:
        sentences.append(texts.no_annotation_saved(review.reason))
    return " ".join(sentences)


def review_picture(trust: Trust, target: float | None) -> Picture:
    """Accuracy by the share that people review: of all pairs with the least sure reviewed first, of all pairs reviewed
    at random, and of the part that is not reviewed."""
    curve = trust.figures.review
    total = len(trust.unsure)
    most, chance, untouched = [], [], []
    for point in curve.points:
        count = round(point.share * total)
        key = Unsure(count) if count else None
        most.append(
            PointMark(
                point.share,
                point.accuracy,
                texts.reviewed_least_sure(
                    percent(point.share),
                    percent(point.accuracy),
                    percent_interval(point.interval),
                    curve.n,
                    plural(point.mended, "mistake"),
                ),
                point.interval,
                key,
            )
        )
        chance.append(
            PointMark(
                point.share, point.by_chance, texts.reviewed_at_random(percent(point.share), percent(point.by_chance))
            )
        )
        left = point.untouched
        if left.accuracy is not None:
            untouched.append(
                PointMark(
                    point.share,
                    left.accuracy,
                    texts.not_reviewed(
                        percent(1 - point.share),
                        percent(left.accuracy),
                        percent_interval(point.untouched_interval),
                        left.n_used,
                    ),
                )
            )
    lines = ((texts.LEAST_SURE_FIRST, most), (texts.AT_RANDOM, chance), (texts.UNREVIEWED_PART, untouched))
    series = share_series(lines, "band")
    base = None if target is None else ReferenceLine(texts.PEOPLE, f"{100 * target:.1f}", target)
    shares = shares_of(series) + ([] if target is None else [target])
    ticks = tuple((share / 4, f"{25 * share}") for share in range(5))
    return Picture(series, ticks, share_ticks(shares), texts.REVIEWED_BY_PEOPLE, base)


class AlikePanel(Panel):
    """Diversity of verdicts and of evidence by layer, and how often neurons change their mind.

    Signals:
        chosen: :class:`Divided`, or a selection of pairs that a layer overturned.
    """

    chosen = Signal(object)

    def __init__(self, trusting: Trusting, parent: QWidget | None = None) -> None:
        self._trusting = trusting
        self.chart = PointChart(texts.DIVERSITY_BY_LAYER)
        self.words = label("", tone="text2", wrap=True)
        super().__init__(texts.LAYERS_ALIKE, parent=parent)
        self.body.addWidget(self.chart, 1)
        self.body.addWidget(self.words)
        self.chart.chosen.connect(self.chosen)
        trusting.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        trust = self._trusting.trust
        picture = None if trust is None else layers_picture(trust)
        known = picture is not None and bool(picture.series)
        self.chart.setVisible(known)
        if trust is None or picture is None:
            self.say("")
            self.words.setText(self._trusting.why)
            return
        if not known:
            self.words.setText(texts.ONE_NEURON)
            return
        self.chart.show_picture(picture)
        layers = len(trust.diversity.layers)
        self.title.setText(texts.LAYERS_ALIKE if layers > 1 else texts.AGREEMENT_OF_NEURONS)
        self.say(plural(layers, "layer"))
        self.words.setText(" ".join(layer_words(trust)))


def layer_words(trust: Trust) -> list[str]:
    """What each layer after the first changed, towards whom, and whether that helped."""
    sentences = []
    for of_layer in trust.discussion:
        changes = of_layer.neurons
        gain = "" if changes.gain.value is None else texts.gain_by_changes(points(changes.gain.value))
        sentences.append(
            texts.layer_changed(
                of_layer.layer,
                changes.changed.moved,
                changes.changed.chances,
                changes.towards_others,
                changes.away,
                gain,
            )
        )
    for alike in trust.diversity.layers:
        if alike.change is not None and alike.change.disagreement.value is not None:
            change = alike.change.disagreement
            sentences.append(
                texts.disagreement_changed(
                    alike.layer - 1, alike.layer, points(change.value or 0.0), plural(change.n, "pair")
                )
            )
    return sentences or [texts.ONE_LAYER]


def layers_picture(trust: Trust) -> Picture:
    """Shares by layer: neurons that disagree, evidence that differs, verdicts that changed."""
    lines: list[tuple[str, list[PointMark]]] = [
        (texts.DISAGREE, []),
        (texts.EVIDENCE_DIFFERS, []),
        (texts.CHANGED_MIND, []),
    ]
    for alike in trust.diversity.layers:
        _add(lines[0][1], alike.layer, alike.verdicts.disagreement, texts.TWO_NEURONS_DISAGREE, Divided(alike.layer))
    for evidence in trust.diversity.evidence or ():
        _add(lines[1][1], evidence.layer, evidence.distance, texts.DISTANCE_OF_TEXTS, None)
    for of_layer in trust.discussion:
        key = Overturned(of_layer.layer - 1, of_layer.layer)
        _add(lines[2][1], of_layer.layer, of_layer.neurons.changed.mean, texts.NEURONS_CHANGED, key)
    series = share_series(lines, "bars")
    layers = len(trust.diversity.layers)
    every = max(1, -(-layers // 8))
    ticks = tuple((float(layer), f"{layer}") for layer in range(1, layers + 1) if (layer - 1) % every == 0)
    return Picture(series, ticks, share_ticks(shares_of(series), from_zero=True), "layer")


def _add(spots: list[PointMark], layer: int, mean: Mean, measure: str, key: object) -> None:
    if mean.value is not None:
        words = texts.layer_mean(layer, measure, percent(mean.value), percent_interval(mean.interval), mean.n)
        spots.append(PointMark(float(layer), mean.value, words, mean.interval, key))
