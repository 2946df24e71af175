"""What the style sheet draws inside a control keeps to the scale, also where the control was made at another one."""

from __future__ import annotations

import re

from judgenet.assets import asset


def test_rules_for_parts_of_controls_that_set_a_weight_set_a_size_too() -> None:
    """Qt fills the rest of a part's font (``QHeaderView::section``) from when the rule was made: a table that was made
    at 200 % would keep headings of that size at 100 %."""
    found = []
    for path in sorted(asset("qss").glob("*")):
        for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", path.read_text(encoding="utf-8")):
            if "::" in selector and "font-weight" in body and "font-size" not in body:
                found.append(" ".join(selector.split()))
    assert found == []
