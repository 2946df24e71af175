"""The prices in force: the project's over the user's over those that come with the program."""

from __future__ import annotations

import glob
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgenet.core.plan import PRICES_VERSION, PriceError, PriceTable, bundled_prices, prices_from_json
from judgenet.store.files import atomic_write, read_text
from judgenet.store.settings import config_folder


def user_prices_path() -> Path:
    """The user's own price table; it need not exist."""
    return config_folder() / "prices.json"


def keep_price(endpoint: str, model: str, cost_in: float, cost_out: float) -> None:
    """Keeps what a model costs at an endpoint (USD per million tokens in and out) in the user's own table, before all
    that is there; a price that was kept for the two before goes.

    :raises PriceError: the user's table cannot be read, or is in another currency.
    :raises OSError: it cannot be written.
    """
    path = user_prices_path()
    table: dict[str, Any] = {"prices": PRICES_VERSION, "currency": "USD", "entries": []}
    if path.exists():
        text = read_text(path)
        prices_from_json(text, str(path))
        table = json.loads(text)
    if table.get("currency", "USD") != "USD":
        raise PriceError(f"{path}: the table is in {table['currency']}; a price in USD cannot stand in it.")
    # A model's name is no pattern.
    models, endpoints = [glob.escape(model)], [glob.escape(endpoint)]
    today = datetime.now(UTC).date().isoformat()
    entry = {"models": models, "endpoints": endpoints, "input": cost_in, "output": cost_out, "as_of": today}
    others = [
        priced for priced in table["entries"] if (priced.get("models"), priced.get("endpoints")) != (models, endpoints)
    ]
    table["entries"] = [entry, *others]
    table["date"] = today
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, json.dumps(table, ensure_ascii=False, indent=2) + "\n")


def load_prices(of_project: Mapping[str, Any] | None = None) -> PriceTable:
    """The table of prices in force. ``of_project`` is a price table in its JSON form, empty for none.

    :raises PriceError: for a table that cannot be used.
    """
    table = bundled_prices()
    path = user_prices_path()
    if path.exists():
        table = prices_from_json(read_text(path), str(path)).over(table)
    if of_project:
        table = prices_from_json(json.dumps(of_project), "prices of the project").over(table)
    return table
