"""The limits of a run, and the prices that a limit of money needs: asked before a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtWidgets import QCheckBox, QDialog, QFormLayout, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from judgenet.core.aggregate import aggregation_names
from judgenet.core.batches import BATCH_KINDS, parse_live_after
from judgenet.core.network import Settings
from judgenet.core.pairs import systems_of
from judgenet.core.plan import PriceError
from judgenet.core.until import StopWish, parse_until
from judgenet.core.wording import money, money_span, plural
from judgenet.engine.batches import BATCH_RECORD, BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.session import endpoints_of
from judgenet.engine.setup import no_price_words, unpriced_models
from judgenet.store.prices import keep_price, load_prices
from judgenet.ui import texts
from judgenet.ui.context import Context
from judgenet.ui.elements import add_row, field, label, set_tone
from judgenet.ui.measures import measure
from judgenet.ui.widgets import set_kind

_WIDE: Final = 560
_FEWEST_SYSTEMS: Final = 3


def stop_words(stop: StopWish) -> str:
    """How a run may end before its last pair, in a few words; empty where it may not."""
    if stop.until:
        return texts.until(stop.until)
    return texts.UNTIL_RANKS_ARE_SEPARATED if stop.auto_matches else ""


def limits_words(limits: Limits, currency: str = "USD") -> str:
    """Limits in a few words: "$5.00, 1,000 calls"; empty where there are none."""
    parts = []
    if limits.max_price is not None:
        parts.append(money(limits.max_price, currency))
    if limits.max_calls is not None:
        parts.append(plural(limits.max_calls, "call"))
    if limits.max_tokens is not None:
        parts.append(plural(limits.max_tokens, "token"))
    return ", ".join(parts)


def batch_words(wish: BatchChoice | bool | None) -> str:
    """Whether a run goes by batches, in a few words; empty where it was not chosen."""
    if not isinstance(wish, BatchChoice):
        return ""
    return texts.by_batches_until(wish.live_after) if wish.live_after else texts.BY_BATCHES


class LimitsDialog(QDialog):
    """Asks for limits of money, calls and tokens, and for the price of each model whose price is unknown."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._over = parent
        self._began_by_batch = False
        self.setWindowTitle(texts.LIMITS_OF_A_RUN)
        self.setAccessibleName(texts.LIMITS_OF_A_RUN)
        self._lead = label(texts.LIMITS_LEAD, tone="text2", wrap=True)
        self.money = field(texts.MAXIMUM_COST, texts.NO_LIMIT)
        self.calls = field(texts.MAXIMUM_NEW_CALLS, texts.NO_LIMIT)
        self.tokens = field(texts.MAXIMUM_TOKENS, texts.NO_LIMIT)
        self.prices: dict[tuple[str, str], tuple[QLineEdit, QLineEdit]] = {}
        self._about_prices = label("", tone="text2", wrap=True)
        self.message = label("", tone="warn", wrap=True)
        self._form = QFormLayout()
        self._priced = QFormLayout()
        self.until = field(texts.STOP_WHEN, texts.STOP_WHEN_EXAMPLE)
        self.until.setToolTip(texts.STOP_WHEN_TIP)
        self.auto = QCheckBox(texts.CHOOSE_PAIRS_UNTIL_SEPARATED)
        self.auto.setToolTip(texts.UNTIL_SEPARATED_TIP)
        for edit in (self.money, self.calls, self.tokens, self.until):
            add_row(self._form, edit.accessibleName(), edit)
        self._form.addRow("", self.auto)
        self._add_batch_rows()
        self.keep = QPushButton(texts.SAVE)
        self.leave = QPushButton(texts.CANCEL)
        set_kind(self.keep, "primary")
        self.keep.setDefault(True)
        self.keep.clicked.connect(self._keep)
        self.leave.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.leave)
        buttons.addWidget(self.keep)
        column = QVBoxLayout(self)
        column.addWidget(self._lead)
        column.addLayout(self._form)
        column.addWidget(self._about_prices)
        column.addLayout(self._priced)
        column.addWidget(self.message)
        column.addStretch(1)
        column.addLayout(buttons)
        measure(column, margins=(24, 24, 24, 16), spacing=12)
        for form in (self._form, self._priced):
            measure(form, across=24, down=8)
        context.theme.dress(self)

    def _add_batch_rows(self) -> None:
        self.batch = QCheckBox(texts.ASK_BY_BATCHES)
        self.batch.setToolTip(texts.BATCHES_TIP)
        self.batch.toggled.connect(self._batch_toggled)
        self.live_after = field(texts.ASK_LIVE_AFTER, texts.ASK_LIVE_AFTER_EXAMPLE)
        self.live_after.setToolTip(texts.ASK_LIVE_AFTER_TIP)
        self._form.addRow("", self.batch)
        add_row(self._form, self.live_after.accessibleName(), self.live_after)

    def show_for(self) -> None:
        """Opens the dialog with the limits in force and the models of the network as it stands."""
        theme = self._context.theme.theme
        limits = self._context.runner.limits
        self.money.setText("" if limits.max_price is None else f"{limits.max_price:g}")
        self.calls.setText("" if limits.max_calls is None else str(limits.max_calls))
        self.tokens.setText("" if limits.max_tokens is None else str(limits.max_tokens))
        stop = self._context.runner.stop_wish
        self.until.setText(stop.until)
        self.auto.setChecked(stop.auto_matches)
        self.auto.setVisible(stop.auto_matches or self._systems() >= _FEWEST_SYSTEMS)
        self._show_batch()
        self._ask_prices(self._unpriced())
        self._tell("")
        self.resize(min(theme.px(_WIDE), self._over.width() - theme.px(32)), self.sizeHint().height())
        self.money.setFocus()
        self.open()

    def _show_batch(self) -> None:
        """Shows whether runs go by batches: as the project says, else as its newest run was begun. Only where an
        endpoint of the network takes some."""
        document, newest = self._context.document, self._context.run_state.newest
        wish = self._context.runner.batch_wish
        kept = None if newest is None else newest.record.get(BATCH_RECORD)
        if wish is None and isinstance(kept, Mapping):
            wish = BatchChoice(str(kept.get("live_after") or ""))
        self._began_by_batch = isinstance(kept, Mapping)
        self.batch.setChecked(isinstance(wish, BatchChoice))
        self.live_after.setText(wish.live_after if isinstance(wish, BatchChoice) else "")
        profiles = (document.profiles.get(name) for name in endpoints_of(document.spec))
        design = self._context.figures.estimate
        batch = "" if design is None else design.batch_words()
        live = "" if design is None or design.estimate.price is None else money_span(*design.estimate.price)
        self.batch.setText(texts.ask_by_batches(batch, live) if batch else texts.ASK_BY_BATCHES)
        takes = any(profile is not None and profile.kind in BATCH_KINDS for profile in profiles)
        self._form.setRowVisible(self.batch, takes or self.batch.isChecked())
        self._batch_toggled()

    def _batch_toggled(self) -> None:
        shown = self.batch.isChecked() and self._form.isRowVisible(self.batch)
        self._form.setRowVisible(self.live_after, shown)

    def _batch_wish(self) -> BatchChoice | bool | None:
        """Whether runs go by batches, as it was entered.

        :raises ValueError: the deadline cannot be read.
        """
        if not self.batch.isChecked():
            # For a run that began with batches this withdraws the choice; for others nothing was chosen.
            return False if self._began_by_batch or self._context.runner.batch_wish is not None else None
        text = self.live_after.text().strip()
        if text:
            parse_live_after(text)
        return BatchChoice(text)

    def _systems(self) -> int:
        return len(systems_of(self._context.document.pairs))

    def _stop_wish(self) -> StopWish:
        """How a run may end before its last pair, as it was entered.

        :raises ValueError: the rule cannot be used.
        """
        text = " ".join(self.until.text().split())
        if text and self.auto.isChecked():
            raise ValueError(texts.LEAVE_ONE_STOP_RULE_OUT)
        if text:
            parse_until(text).require_known(aggregation_names(self._context.document.spec))
        return StopWish(text, self.auto.isChecked())

    def _unpriced(self) -> tuple[Settings, ...]:
        document = self._context.document
        try:
            return unpriced_models(document.spec, load_prices(document.project.prices), document.profiles)
        except PriceError as error:
            self._context.errors.post_exception(error, texts.PRICES)
            return ()

    def _ask_prices(self, models: tuple[Settings, ...]) -> None:
        while self._priced.rowCount():
            self._priced.removeRow(0)
        self.prices.clear()
        for settings in models:
            endpoint, model = settings.endpoint or "", settings.model or ""
            edits = tuple(
                field(texts.price_of_side(model, endpoint, side), side) for side in (texts.TOKENS_IN, texts.TOKENS_OUT)
            )
            row = QWidget()
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            for edit in edits:
                line.addWidget(edit)
            add_row(self._priced, texts.model_at(model, endpoint), row)
            self.prices[endpoint, model] = (edits[0], edits[1])
        self._about_prices.setText(texts.PRICE_OF_MODELS_UNKNOWN)
        self._about_prices.setVisible(bool(models))

    def _tell(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        set_tone(self.message, "warn")

    def _keep(self) -> None:
        try:
            limits = Limits(
                _whole(self.calls.text(), texts.CALLS),
                _whole(self.tokens.text(), texts.TOKENS),
                amount(self.money.text(), texts.MONEY),
            )
            stop, batch = self._stop_wish(), self._batch_wish()
            for (endpoint, model), (cost_in, cost_out) in self.prices.items():
                if (prices := both_prices(cost_in.text(), cost_out.text(), model)) is not None:
                    keep_price(endpoint, model, *prices)
        except (ValueError, OSError) as error:
            self._tell(str(error))
            return
        if self.prices:
            self._context.figures.refresh()
        left = self._unpriced()
        if limits.max_price is not None and left:
            self._ask_prices(left)
            self._tell(texts.limit_of_money_needs_it(no_price_words(left)))
            return
        self._context.runner.set_limits(limits, stop, batch)
        self.accept()


def both_prices(cost_in: str, cost_out: str, model: str) -> tuple[float, float] | None:
    """The prices of a model, in and out, as they were entered; ``None`` where none was.

    :raises ValueError: a text is no price, or one of the two is missing.
    """
    prices = amount(cost_in, model), amount(cost_out, model)
    if prices[0] is not None and prices[1] is not None:
        return prices[0], prices[1]
    if prices == (None, None):
        return None
    raise ValueError(texts.both_prices_needed(model))


def _whole(text: str, what: str) -> int | None:
    """A whole number of 1 or more, ``None`` for an empty text."""
    bare = text.replace(",", "").replace(" ", "").strip()
    if not bare:
        return None
    if not bare.isdecimal() or int(bare) < 1:
        raise ValueError(texts.no_whole_number(what, f"{text.strip()!r}"))
    return int(bare)


def amount(text: str, what: str) -> float | None:
    """An amount of 0 or more, ``None`` for an empty text.

    :raises ValueError: the text is no amount; ``what`` names the field in the message.
    """
    bare = text.strip().removeprefix("$").strip()
    if not bare:
        return None
    try:
        value = float(bare)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise ValueError(texts.no_amount(what, f"{text.strip()!r}"))
    return value
