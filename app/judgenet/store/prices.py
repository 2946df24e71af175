"""The prices in force: the project's over the user's over those that come with the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgenet.core.plan import PriceTable, bundled_prices, prices_from_json
from judgenet.store.files import read_text
from judgenet.store.settings import config_folder


def user_prices_path() -> Path:
    """The user's own price table; it need not exist."""
    return config_folder() / "prices.json"


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
