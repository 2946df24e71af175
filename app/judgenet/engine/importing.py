"""An import as it is being configured: the meaning of columns and of label values, and the pairs that are left out.

Nothing is guessed: what is not clear stays open until a person says it, and then the import can be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.matches import Matches
from judgenet.core.network import NetworkError, is_recorded
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.plan import PriceError, count_calls
from judgenet.core.project import PairsSource, Project, Selection
from judgenet.core.prompts import PromptError
from judgenet.engine.estimate import estimate_run
from judgenet.engine.setup import start_of
from judgenet.formats import DataError, Dataset, FilePreview, LabelValues, OpenFiles, PairMapping, Watch
from judgenet.formats.many import FIELDS_OF, RESPONSES, SYSTEMS
from judgenet.formats.mapping import PICTURE_FIELDS
from judgenet.formats.watch import nothing

Several = Literal["", "responses", "systems"]
"""More than two responses to a question: in one record, or a record for each system; empty for pairs."""

FIELD_WORDS: Final[dict[str, str]] = {
    "id": "Id",
    "question": "Question",
    "response_a": "Response A",
    "response_b": "Response B",
    "chosen": "Better response",
    "rejected": "Worse response",
    "human": "Human label",
    "annotators": "Annotators",
    "annotator": "Annotator of a row",
    "task": "Task",
    "reference": "Reference",
    "model_a": "Model of A",
    "model_b": "Model of B",
    "responses": "Responses",
    "models": "Systems",
    "system": "System",
    "response": "Response",
    "ranks": "Ranks",
    "scores": "Scores",
    "ranking": "Ranking",
    "winners": "Winners of two",
    "tags": "Tags",
    "criteria": "Criteria",
    "pictures_question": "Pictures of the question",
    "pictures_a": "Pictures of A",
    "pictures_b": "Pictures of B",
}
"""The fields of a pair for people, in the order in which they are asked for."""

JOINABLE: Final = ("question", "annotators", "criteria", "responses", "models", "ranks", "scores")
"""Fields that may be read from several columns."""

MOST_LABEL_VALUES: Final = 40
"""A column with more values than this is not offered as a label column to be decided value by value."""

ImportShape = Literal["ab", "preference", "responses", "systems"]
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {RESPONSES: ("responses",), SYSTEMS: ("system", "response")}
_PREFERENCE: Final = ("chosen", "rejected")
_SIDES: Final = ("response_a", "response_b")


@dataclass(frozen=True, slots=True)
class ImportDraft:
    """What is decided so far about files that were opened.

    ``columns`` and ``labels`` are what a person said, by field and by label value; what they do not name is as the
    file's names or its published format suggest. ``preference``: the file says better and worse instead of A and B.
    """

    preview: FilePreview
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Verdict | None] = field(default_factory=dict)
    preference: bool = False
    no_majority: Verdict | None = "tie"
    seed: int = 0
    joiner: str = "\n\n"
    encoding: str | None = None
    leave_out: tuple[str, ...] = ()
    several: Several = ""
    matches: Matches = None
    systems: tuple[str, ...] = ()
    sheet: str | None = None
    leave_out_bad: bool = False

    @classmethod
    def begin(cls, opened: OpenFiles, source: PairsSource | None = None) -> ImportDraft:
        """The draft for files; with ``source`` it begins with what that one says (of columns that the files have)."""
        preview = opened.preview()
        draft = cls(
            preview,
            sheet=opened.sheet,
            leave_out_bad=opened.leave_out_bad,
            preference=set(_PREFERENCE) <= set(preview.names) and not preview.columns.get("response_a"),
            several=_several(preview.format),
        )
        if source is None or source.mapping is None:
            return draft
        mapping = PairMapping.from_json(source.mapping)
        known = {
            part: column
            for part, column in mapping.columns.items()
            if not column or column in preview.names or all(map(opened.tables[0].has, column.split("+")))
        }
        return replace(
            draft,
            columns=known,
            labels=mapping.labels or {},
            preference=bool(known.get("chosen") and known.get("rejected")),
            no_majority=mapping.no_majority,
            seed=mapping.seed,
            joiner=mapping.joiner,
            encoding=mapping.encoding,
            leave_out=mapping.leave_out,
            several=_mapped(known, draft.several),
            matches=mapping.matches,
            systems=mapping.systems,
            leave_out_bad=mapping.leave_out_bad or opened.leave_out_bad,
        )

    # Columns

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are asked for, those that matter most first."""
        if self.several:
            return FIELDS_OF[self.several]
        sides = _PREFERENCE if self.preference else _SIDES
        labels = () if self.preference else ("human",)
        return (
            "question",
            *sides,
            *labels,
            "task",
            "id",
            "reference",
            "model_a",
            "model_b",
            "annotators",
            "annotator",
            "tags",
            "criteria",
            *PICTURE_FIELDS,
        )

    def column(self, part: str) -> str:
        """The column (or several, joined by ``+``) that a field is read from; empty where it is not read."""
        if part in self.columns:
            return self.columns[part]
        if part in _PREFERENCE:
            return part if self.preference and part in self.preview.names else ""
        return self.preview.columns.get(part, "")

    def derived(self, part: str) -> bool:
        """The published format makes the field from other columns."""
        return part in self.preview.derived and part not in self.columns

    def candidates(self, part: str) -> tuple[str, ...]:
        """Columns among which a person has to choose; none where that is done or not needed."""
        if self.several or part in self.columns or (self.preference and part in (*_SIDES, "human")):
            return ()
        if part == "id":
            # Offered, not needed: without one the rows are numbered.
            used = {name for column in self.preview.columns.values() for name in column.split("+")}
            unused = tuple(name for name in self.preview.unique if name not in used)
            return () if self.column("id") else unused
        return self.preview.unclear.get(part, ())

    @property
    def missing(self) -> tuple[str, ...]:
        """Fields that need a column and have none."""
        needed: tuple[str, ...] = ("question", *(_PREFERENCE if self.preference else _SIDES))
        if self.several:
            needed = ("question", *_NEEDED[self.several])
        parts = [part for part in needed if not self.column(part) and not self.derived(part)]
        # A question can be left out on purpose: chat messages and one-task data sets have none of their own.
        parts = [part for part in parts if not (part == "question" and "question" in self.columns)]
        if self.preference and "question" in parts:
            parts.remove("question")
        return (*parts, *(("human",) if self.candidates("human") else ()))

    def with_column(self, part: str, column: str) -> ImportDraft:
        """With another column for a field; an empty name: the field is not read."""
        return replace(self, columns={**self.columns, part: column})

    @property
    def form(self) -> ImportShape:
        """How the file holds the responses."""
        return self.several or ("preference" if self.preference else "ab")

    def with_form(self, form: ImportShape) -> ImportDraft:
        """With another form of the responses: A and B, better and worse, or more than two."""
        several = _several(form)
        fields = replace(self, preference=form == "preference", several=several).fields
        own = (*_PREFERENCE, *_SIDES, "responses", "models", "system", "response")
        kept = {part: column for part, column in self.columns.items() if part not in own and part in fields}
        return replace(self, preference=form == "preference", several=several, columns=kept)

    # Labels

    @property
    def reads_labels(self) -> bool:
        """Some column holds what people said."""
        return any(self.column(part) or self.derived(part) for part in self._label_fields)

    @property
    def majority_decides(self) -> bool:
        """The annotators' majority is the label of pairs without one of their own."""
        annotators = self.column("annotators") or self.derived("annotators")
        if self.several:
            return bool(self.column("ranking") or self.column("winners"))
        return bool(annotators) and not self.preference

    @property
    def _label_fields(self) -> tuple[str, ...]:
        if self.several:
            return ("ranks", "scores", "ranking", "winners")
        return ("annotators",) if self.preference else ("human", "annotators")

    def decided(self, values: LabelValues) -> dict[str, Verdict | None]:
        """The meaning of each label value that is decided."""
        said = {**values.known, **self.labels}
        return {value: said[value] for value in values.counts if value in said}

    def undecided(self, values: LabelValues) -> tuple[str, ...]:
        """The values whose meaning a person has to say."""
        known = self.decided(values)
        return tuple(value for value in values.counts if value not in known)

    def with_label(self, value: str, meaning: Verdict | None) -> ImportDraft:
        """With the meaning of a label value; ``None``: it is no label."""
        return replace(self, labels={**self.labels, value: meaning})

    # The result

    def mapping(self, values: LabelValues | None = None) -> PairMapping:
        """The mapping for reading; with ``values`` it holds the meaning of those that are decided."""
        columns = dict(self.columns)
        if self.preference:
            columns |= {part: self.column(part) for part in _PREFERENCE}
            columns.pop("human", None)
        elif self.candidates("human"):
            columns["human"] = ""
        labels = self.decided(values) if values is not None else {}
        return PairMapping(
            columns,
            labels=labels or None,
            joiner=self.joiner,
            seed=self.seed,
            no_majority=self.no_majority,
            encoding=self.encoding,
            matches=self.matches if self.several else None,
            systems=self.systems if self.several else (),
            sheet=self.sheet,
            leave_out_bad=self.leave_out_bad,
        )

    def source(self, files: tuple[str, ...], values: LabelValues, selection: Selection | None = None) -> PairsSource:
        """The source of pairs as a project keeps it. Whatever was shown is written down, so that a later program
        with other suggestions reads the same."""
        mapping = self.mapping(values)
        columns = dict(mapping.columns)
        if self.preview.format in ("table", "unknown", "normal") or (
            self.several and self.preview.format == self.several
        ):
            columns = {**self.preview.columns, **columns}
        defaults = PairMapping().to_json()
        options: dict[str, Any] = replace(mapping, leave_out=self.leave_out).to_json()
        options = {
            name: value
            for name, value in options.items()
            if name not in ("columns", "labels") and value != defaults[name]
        }
        return PairsSource(
            files, columns=columns, labels=mapping.labels or {}, options=options, selection=selection or Selection()
        )


def _several(form: str) -> Several:
    return "responses" if form == RESPONSES else "systems" if form == SYSTEMS else ""


def _mapped(columns: Mapping[str, str], otherwise: Several) -> Several:
    """The form of the file that the columns of a mapping imply."""
    named = {part for part, column in columns.items() if column}
    if "responses" in named:
        return "responses"
    if named & {"system", "response"}:
        return "systems"
    return "" if named & {*_SIDES, *_PREFERENCE} else otherwise


def cost_line(project: Project, dataset: Dataset, profiles: Mapping[str, EndpointProfile]) -> str:
    """What judging all pairs of a data set with the project's network would take, in words."""
    if is_recorded(project.network):
        return "The project holds recorded judgments: with a network of your own you see what judging takes."
    try:
        shown = dict(estimate_run(start_of(project, dataset.pairs, profiles, dataset=dataset), None).lines())
    except (NetworkError, PriceError, PromptError):
        calls = count_calls(project.network).total * len(dataset.pairs)
        return f"About {calls:,} calls; the price is not known before a model is chosen."
    return f"{shown['calls']} calls, price {shown['price']}."


@dataclass(frozen=True, slots=True)
class MappingPreview:
    """The result of a draft's mapping, found without reading all pairs.

    ``values`` are the values of the label columns and ``first`` the first pairs, empty where columns are missing or
    ``problem`` says what is wrong.
    """

    values: LabelValues
    first: tuple[Pair, ...] = ()
    problem: DataError | None = None


_NO_VALUES: Final = LabelValues({}, {})


def look(opened: OpenFiles, draft: ImportDraft, rows: int = 10) -> MappingPreview:
    """The label values and the first pairs that a draft gives so far."""
    if set(draft.missing) - {"human"}:
        return MappingPreview(_NO_VALUES)
    try:
        # The first rows come first: what is wrong with them is said with its row.
        first = opened.first(draft.mapping(_NO_VALUES), rows)
        values = opened.label_values(draft.mapping())
        if len(values.counts) <= MOST_LABEL_VALUES:
            first = opened.first(draft.mapping(values), rows)
    except DataError as error:
        return MappingPreview(_NO_VALUES, problem=error)
    return MappingPreview(values, first)


def read(opened: OpenFiles, draft: ImportDraft, values: LabelValues, watch: Watch = nothing) -> Dataset:
    """All pairs as the draft reads them, with their findings; values that are not decided are read as no label.

    Nothing is left out yet: see :meth:`~judgenet.formats.Dataset.without`.

    :raises DataError: a record cannot be read, or an id occurs twice.
    """
    dataset = opened.read(draft.mapping(values), lenient=True, watch=lambda share: watch(share / 2))
    dataset.examine(lambda share: watch(0.5 + share / 2))
    return dataset
