"""Changes of single pairs that belong to a project: a mended typo, another label. The files they come from stay as they
are, and what stood there before is kept beside each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, get_args

from judgenet.core.criteria import CriteriaError, criteria_from_text, criteria_to_text
from judgenet.core.documents import Fields
from judgenet.core.pairs import VERDICTS, Pair

EditedField = Literal["question", "response_a", "response_b", "criteria", "human"]
EDITED_FIELDS: Final[tuple[EditedField, ...]] = get_args(EditedField)
TEXT_FIELDS: Final[tuple[EditedField, ...]] = ("question", "response_a", "response_b", "criteria")
"""Fields that judges see: a pair in which one of them is changed has another content, and its calls are asked anew."""

FromTo = tuple[str | None, str | None]
"""What the file says, and what holds instead. ``None`` is no label; criteria are a text as of
:func:`judgenet.core.criteria.criteria_to_text`."""
PairEdits = Mapping[str, Mapping[EditedField, FromTo]]
"""Changes by the id of the pair and the field."""


def with_edits(pairs: Sequence[Pair], edits: PairEdits) -> tuple[Pair, ...]:
    """The pairs with the changes made. A change is made only where the file still says what it said when the change was
    made; pairs that are not there any more are passed over."""
    if not edits:
        return tuple(pairs)
    return tuple(_edited(pair, edits[pair.id]) if pair.id in edits else pair for pair in pairs)


def without_edits(pair: Pair, edits: PairEdits) -> Pair:
    """A pair as the file has it."""
    changes = edits.get(pair.id, {})
    return _with(pair, {field: old for field, (old, new) in changes.items() if field_value(pair, field) == new})


def field_value(pair: Pair, field: EditedField) -> str | None:
    """A field of a pair as changes have it."""
    if field == "criteria":
        return criteria_to_text(pair.criteria)
    value: str | None = getattr(pair, field)
    return value


def _with(pair: Pair, values: Mapping[EditedField, str | None]) -> Pair:
    changes: dict[str, Any] = {
        field: criteria_from_text(value or "") if field == "criteria" else value for field, value in values.items()
    }
    return replace(pair, **changes) if changes else pair


def _edited(pair: Pair, changes: Mapping[EditedField, FromTo]) -> Pair:
    return _with(pair, {field: new for field, (old, new) in changes.items() if field_value(pair, field) == old})


def edit_pair(edits: PairEdits, pair: Pair, values: Mapping[EditedField, str | None]) -> PairEdits:
    """The changes with these values of a pair among them. ``pair`` is as it stands now, earlier changes made. A field
    that gets the file's own value again is no change any more."""
    before = without_edits(pair, edits)
    changes = dict(edits.get(pair.id, {}))
    for field, value in values.items():
        original = field_value(before, field)
        if value == original:
            changes.pop(field, None)
        else:
            changes[field] = (original, value)
    others = {pair_id: known for pair_id, known in edits.items() if pair_id != pair.id}
    return others | {pair.id: changes} if changes else others


def edits_to_json(edits: PairEdits) -> dict[str, Any]:
    """The changes as JSON: by id and field, the file's value under ``from`` and the present one under ``to``."""
    return {
        pair_id: {field: {"from": old, "to": new} for field, (old, new) in changes.items()}
        for pair_id, changes in edits.items()
    }


def edits_schema() -> dict[str, Any]:
    """The JSON Schema of the changes."""
    text = {"type": "string"}
    label = {"enum": [*VERDICTS, None]}
    fields = {
        field: {"type": "object", "properties": dict.fromkeys(("from", "to"), label if field == "human" else text)}
        for field in EDITED_FIELDS
    }
    return {"type": "object", "additionalProperties": {"type": "object", "properties": fields}}


def edits_from_json(fields: Fields) -> PairEdits:
    """The inverse of :func:`edits_to_json`.

    :raises DocumentError: a field that cannot be changed, or a value of another kind.
    """
    edits: dict[str, dict[EditedField, FromTo]] = {}
    for pair_id in fields.members:
        of_pair = fields.inner(pair_id)
        changes: dict[EditedField, FromTo] = {}
        for name in of_pair.members:
            field = next((edited for edited in EDITED_FIELDS if edited == name), None)
            if field is None:
                raise of_pair.error(name, f"is no field that can be changed; known: {', '.join(EDITED_FIELDS)}")
            change = of_pair.inner(name)
            old, new = (change.members.get(key) for key in ("from", "to"))
            for key, value in (("from", old), ("to", new)):
                fits = value in (*VERDICTS, None) if field == "human" else isinstance(value, str)
                if not fits:
                    wanted = 'must be "a", "b", "tie" or null' if field == "human" else "must be a text"
                    raise change.error(key, wanted)
                if field == "criteria" and not _are_criteria(value):
                    raise change.error(key, "must be a list of criteria as JSON, or empty")
            changes[field] = (old, new)
        if changes:
            edits[pair_id] = changes
    return edits


def _are_criteria(text: str | None) -> bool:
    try:
        criteria_from_text(text or "")
    except CriteriaError:
        return False
    return True
