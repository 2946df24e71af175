"""The prompts of a network: what a neuron, the role generation and the chair are asked.

All prompts of a pair and order begin alike, so that a prompt cache works: what the texts are, the texts
themselves, then the task. Layer 2 and deeper add the evaluations heard, and what one neuron alone gets, its
role last of all, comes at the end.

Texts of others (responses, evidence, roles) stand in blocks whose delimiters carry a mark that cannot be guessed
(:func:`mark_of`). Responses are put in as they are; what looks like a delimiter in the words of another judge is taken
out of its brackets. Names and descriptions of generated roles have a stated length (:func:`short_role`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import count, groupby
from typing import Literal

from judgenet.core import schemas
from judgenet.core.criteria import CRITERION_LENGTH, Criterion, criterion_text, weights_differ
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import Role
from judgenet.core.pairs import Order, Pair
from judgenet.core.pictures import PairPicture, PlacedPicture, named_text, picture_tokens, spoken_text
from judgenet.core.schemas import ReplyForm
from judgenet.core.templates import FAMILIES, LANGUAGES, PromptError, Template, compiled, earlier, shipped
from judgenet.core.tokens import estimate_tokens

__all__ = [
    "FAMILIES",
    "LANGUAGES",
    "Heard",
    "LayerPrompts",
    "LayerView",
    "Prompt",
    "PromptBook",
    "PromptError",
    "PromptLanguage",
    "Seat",
    "criteria_note",
    "criteria_roles",
    "family_of",
    "language_of",
    "mark_of",
    "short_role",
    "union_roles",
]

PromptLanguage = Literal["en", "zh"]

_KEYS = {
    "evidence_key": schemas.EVIDENCE,
    "score_1_key": schemas.SCORE_1,
    "score_2_key": schemas.SCORE_2,
    "roles_key": schemas.ROLES,
    "name_key": schemas.NAME,
    "description_key": schemas.DESCRIPTION,
    "ranking_key": schemas.RANKING,
}


_RANKING = ("with_input", "without_input", "response", "ask", "json", "text")


@dataclass(frozen=True, slots=True)
class PromptPicture:
    """A picture in a prompt: it follows ``mark``, which stands once in the shared text."""

    mark: str
    picture: PairPicture


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model. The user message is ``shared + own``.

    ``shared`` is equal for all calls that read the same things in the same order. ``own`` may be empty. ``pictures``
    are those of the shared text, each behind its mark.
    """

    system: str
    shared: str
    own: str
    pictures: tuple[PromptPicture, ...] = ()

    @property
    def user(self) -> str:
        return self.shared + self.own

    def tokens(self, kind: str, model: str) -> int:
        """About how many tokens a model at an endpoint of a kind counts for it, pictures and all."""
        sizes = ((placed.picture.width, placed.picture.height) for placed in self.pictures)
        seen = sum(picture_tokens(kind, model, *size) for size in sizes)
        return estimate_tokens(self.system) + estimate_tokens(self.user) + seen

    def messages(self) -> list[dict[str, str]]:
        """Chat messages; an empty system message is left out."""
        user = {"role": "user", "content": self.user}
        return [{"role": "system", "content": self.system}, user] if self.system else [user]


@dataclass(frozen=True, slots=True)
class Heard:
    """One evaluation of the layer before, or its absence.

    ``neuron`` is the 1-based place in the layer before and ``order`` the order in which that neuron saw the
    responses. ``inherited`` are the roles that it had itself heard of (:func:`union_roles` of its own view),
    which it hands on.
    """

    neuron: int
    role: Role | None
    order: Order
    result: Evaluation | Unscored
    inherited: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerView:
    """What all neurons share that read the same things.

    ``layer`` is 1-based, the chair's is the number of layers plus 1. ``heard`` is ordered by neuron, then by
    order. ``language`` and ``family`` are resolved already.
    """

    pair: Pair
    order: Order
    layer: int
    mark: str
    form: ReplyForm
    heard: tuple[Heard, ...] = ()
    language: PromptLanguage = "en"
    family: str = "general"
    evidence: bool = True
    criteria: Sequence[Criterion] = ()
    """The pair's criteria, where all who share the view see them."""
    by_criteria: bool = False
    """The roles of those heard are the pair's criteria."""


@dataclass(frozen=True, slots=True)
class Seat:
    """What one neuron has for itself. ``own`` is the ``Heard.neuron`` of its own earlier evaluations. With
    ``criterion`` its role is a criterion of the pair."""

    neuron: int
    role: Role | None = None
    own: int | None = None
    criterion: bool = False


class LayerPrompts:
    """The prompts of all neurons that share a view; the shared part is rendered once."""

    __slots__ = ("_frame", "_heard", "_mark", "pictures", "shared", "system")

    def __init__(
        self,
        frame: Mapping[str, Template],
        view: LayerView,
        system: str,
        shared: str,
        pictures: tuple[PromptPicture, ...] = (),
    ) -> None:
        self.system = system
        self.shared = shared
        self.pictures = pictures
        self._frame = frame
        self._mark = view.mark
        self._heard = frozenset(heard.neuron for heard in view.heard)

    def prompt(self, seat: Seat) -> Prompt:
        """The prompt of one neuron.

        :raises PromptError: ``seat.own`` is not among the neurons heard.
        """
        own = ""
        if self._heard:
            own += f"\n\n{self._place(seat)}"
        if seat.role is not None and seat.criterion:
            criterion = _criterion_words(self._frame, seat.role, self._mark)
            own += "\n\n" + self._frame["own.criterion"].render(criterion=criterion, mark=self._mark)
        elif seat.role is not None:
            role = _described(self._frame, seat.role, self._mark)
            own += "\n\n" + self._frame["own.role"].render(role=role, mark=self._mark)
        return Prompt(self.system, self.shared, own, self.pictures)

    def _place(self, seat: Seat) -> str:
        if seat.own is None:
            return self._frame["own.none"].text
        if seat.own not in self._heard:
            raise PromptError(f"Neuron {seat.neuron} heard nothing of neuron {seat.own}, which is said to be its own.")
        mine = self._frame["own.mine"].render(neuron=str(seat.own))
        return mine if len(self._heard) == 1 else f"{mine}\n{self._frame['own.others'].text}"


class PromptBook:
    """The templates in force and the prompts made of them.

    A template's name is ``language.file.table.key`` as under ``resources/prompts``, such as
    ``en.frame.judge.evidence`` or ``zh.families.story.criteria``.

    :raises PromptError: see :meth:`edited`.
    """

    __slots__ = ("_frames", "_later", "_tasks", "_templates", "digest")

    def __init__(self, texts: Mapping[str, str], *, later: Collection[str] = ()) -> None:
        self._templates = compiled(texts)
        self._frames = {language: self._frame_of(language) for language in LANGUAGES}
        self._tasks: dict[tuple[str, str, ReplyForm, bool, bool], str] = {}
        self._later = frozenset(later)
        counted = {name: template.text for name, template in self._templates.items() if name not in self._later}
        self.digest = hashlib.sha256(json.dumps(counted, sort_keys=True).encode("ascii")).hexdigest()
        """SHA-256 (hex) of all templates in force, without those that came ``later`` than the book's version."""

    @classmethod
    def default(cls) -> PromptBook:
        """The book as shipped."""
        return _default()

    def edited(self, overrides: Mapping[str, str]) -> PromptBook:
        """The book with some templates replaced.

        :raises PromptError: an unknown template, an unknown placeholder in one, or a needed one left out.
        """
        texts = {name: template.text for name, template in self._templates.items()} | dict(overrides)
        return PromptBook(texts, later=self._later - overrides.keys())

    @property
    def versions(self) -> tuple[PromptBook, ...]:
        """This book, and what it was with the texts of earlier versions, the newest first; edited texts stay."""
        texts = {name: template.text for name, template in self._templates.items()}
        now = PromptBook.default()
        books = [self]
        for before in earlier():
            unedited = {name for name, text in texts.items() if text == now.text(name)}
            kept = {name: text for name, text in before.texts.items() if name in unedited}
            later = before.later & unedited
            if kept or later:
                books.append(PromptBook(texts | kept, later=later))
        return tuple(books)

    def of_digest(self, digest: str | None) -> PromptBook:
        """The version of this book with a recorded digest; this one where none has it."""
        return next((book for book in self.versions if book.digest == digest), self) if digest else self

    def sets_roles_apart(self, language: str) -> bool:
        """Whether its prompts set the words of generated roles apart from the instruction."""
        return _guarded(self._frame(language))

    def names(self) -> tuple[str, ...]:
        """The names of all templates, in the order of their files."""
        return tuple(self._templates)

    def text(self, name: str) -> str:
        """The text of a template in force.

        :raises PromptError: there is no such template.
        """
        if name not in self._templates:
            raise PromptError(f"There is no template {name!r}.")
        return self._templates[name].text

    def roles(
        self, pair: Pair, *, mark: str, form: ReplyForm, limit: int | None, language: PromptLanguage, family: str
    ) -> Prompt:
        """Asks for the perspectives from which a pair should be judged, at most ``limit`` where it is given.

        The responses stand in the order "ab", and the prompt begins as those of layer 1 in that order. How the bias lab
        shows a pair is left out: the roles are those of the pair.

        :raises PromptError: an unknown language or family, or a limit below 1.
        """
        if limit is not None and limit < 1:
            raise PromptError(f"At least one role must be asked for, not {limit}.")
        frame = self._frame(language)
        lines = [frame["roles.ask"].text]
        if limit is not None:
            lines.append(frame["roles.limit"].render(limit=str(limit)))
        example = {key: self._family(language, family, key) for key in ("role_name", "role_description")}
        lines.append(frame[f"roles.{form}"].render(**_KEYS, **example))
        shared, pictures = self._texts(frame, pair, "ab", mark, language, family, pair.criteria)
        return Prompt(frame["system"].text, shared, f"\n\n{_joined(lines)}", pictures)

    def ranking(
        self, pair: Pair, responses: Sequence[str], *, mark: str, form: ReplyForm, language: PromptLanguage, family: str
    ) -> Prompt:
        """Asks for an order of several responses to the question of a pair, whose own responses are left out.

        :raises PromptError: an unknown language or family, or fewer than two responses.
        """
        if len(responses) < 2:
            raise PromptError(f"Two responses or more can be put in order, not {len(responses)}.")
        frame = self._frame(language)
        own = {name: self._templates[f"{language}.bias.ranking.{name}"] for name in _RANKING}
        named, count = self._family(language, family, "input"), str(len(responses))
        asked = bool(pair.question.strip())
        lines = [own["with_input" if asked else "without_input"].render(input=named, count=count)]
        reference = pair.reference if pair.reference and pair.reference.strip() else None
        if reference is not None:
            lines.append(frame["opening.reference"].text)
        if pair.criteria:
            lines.append(_opening_of_criteria(frame, pair.criteria))
        lines.append(frame["opening.material"].render(mark=mark))
        block = frame["block.text"]
        parts = [_joined(lines)]
        if asked:
            parts.append(block.render(name=named, mark=mark, text=pair.question))
        if reference is not None:
            parts.append(block.render(name=frame["block.reference"].text, mark=mark, text=reference))
        if pair.criteria:
            parts.append(_criteria(frame, pair.criteria, mark))
        for number, text in enumerate(responses, 1):
            parts.append(block.render(name=own["response"].render(number=str(number)), mark=mark, text=text))
        criteria = self._family(language, family, "criteria")
        ask = [own["ask"].render(criteria=criteria, count=count), own[form].render(**_KEYS)]
        return Prompt(frame["system"].text, "\n\n".join(parts), f"\n\n{_joined(ask)}")

    def layer(self, view: LayerView) -> LayerPrompts:
        """The prompts of the neurons that share ``view``.

        :raises PromptError: an unknown language or family.
        """
        frame = self._frame(view.language)
        about = (view.pair, view.order, view.mark, view.language, view.family, view.criteria)
        texts, pictures = self._texts(frame, *about)
        shared = [
            texts,
            *self._remarks(view),
            self._task(frame, view),
        ]
        if view.heard:
            shared.append(_discussion(frame, view))
        elif view.layer > 1:
            shared.append(frame["heard.nothing"].text)
        return LayerPrompts(frame, view, frame["system"].text, "\n\n".join(shared), pictures)

    def chair(self, view: LayerView) -> Prompt:
        """Asks the chair, who reads the last layer and decides in the same form as the neurons.

        :raises PromptError: an unknown language or family.
        """
        prompts = self.layer(view)
        own = f"\n\n{self._frame(view.language)['own.chair'].text}"
        return Prompt(prompts.system, prompts.shared, own, prompts.pictures)

    def _frame_of(self, language: str) -> dict[str, Template]:
        prefix = f"{language}.frame."
        return {name[len(prefix) :]: t for name, t in self._templates.items() if name.startswith(prefix)}

    def _frame(self, language: str) -> Mapping[str, Template]:
        if language not in self._frames:
            raise PromptError(f"There are no prompts in {language!r}; known languages: {', '.join(LANGUAGES)}.")
        return self._frames[language]

    def _family(self, language: str, family: str, key: str) -> str:
        if family not in FAMILIES:
            raise PromptError(f"There is no task family {family!r}; known families: {', '.join(FAMILIES)}.")
        return self._templates[f"{language}.families.{family}.{key}"].text

    def _texts(
        self,
        frame: Mapping[str, Template],
        pair: Pair,
        order: Order,
        mark: str,
        language: str,
        family: str,
        criteria: Sequence[Criterion],
    ) -> tuple[str, tuple[PromptPicture, ...]]:
        """What the texts are, and the texts with their pictures: the same for all calls of a pair and order."""
        named = self._family(language, family, "input")
        # mt-bench keeps the whole conversation in the responses and has no question of its own.
        asked = bool(pair.question.strip())
        reference = pair.reference if pair.reference and pair.reference.strip() else None
        first, second = (pair.response_a, pair.response_b) if order == "ab" else (pair.response_b, pair.response_a)

        opening = frame["opening.with_input" if asked else "opening.without_input"]
        lines = [opening.render(input=named, responses=self._family(language, family, "responses"))]
        if reference is not None:
            lines.append(frame["opening.reference"].text)
        if criteria:
            lines.append(_opening_of_criteria(frame, criteria))
        lines.append(frame["opening.material"].render(mark=mark))
        album = _Pictures(frame, pair, mark)
        if pair.pictures:
            lines.append(frame["opening.pictures"].text)

        block = frame["block.text"]
        parts = [_joined(lines)]
        if asked:
            parts.append(block.render(name=named, mark=mark, text=album.marked(named, pair.question)))
        if reference is not None:
            name = frame["block.reference"].text
            parts.append(block.render(name=name, mark=mark, text=album.marked(name, reference)))
        if criteria:
            parts.append(_criteria(frame, criteria, mark))
        for name, text in ((frame["block.response_1"].text, first), (frame["block.response_2"].text, second)):
            shown = block.render(name=name, mark=mark, text=album.marked(name, text))
            parts.append(shown if text.strip() else f"{shown}\n{frame['block.empty'].render(name=name)}")
        return "\n\n".join(parts), tuple(album.seen)

    def remarks(self, pair: Pair, language: PromptLanguage) -> str:
        """What the bias lab says of the responses of a pair, for people; empty where it says nothing."""
        order: Order = "ba" if pair.shown is not None and pair.shown.order == "ba" else "ab"
        return "\n".join(self._remarks(LayerView(pair, order, 1, "\0", "text", language=language)))

    def _remarks(self, view: LayerView) -> Iterator[str]:
        """What the bias lab says of the responses: their authors, or a sentence about one of them."""
        shown = view.pair.shown
        if shown is None:
            return
        frame = self._frame(view.language)
        sides: tuple[Literal["a", "b"], ...] = ("a", "b") if view.order == "ab" else ("b", "a")
        named = dict(zip(sides, (frame["block.response_1"].text, frame["block.response_2"].text), strict=True))
        lines = []
        for side in sides:
            name = shown.name_a if side == "a" else shown.name_b
            if name is not None:
                template = self._templates[f"{view.language}.bias.shown.{'own' if side in shown.own else 'author'}"]
                words = _words(frame, name, view.mark)
                words = _cut(words, NAME_LENGTH) if _guarded(frame) else words
                lines.append(template.render(response=named[side], name=words))
        if shown.remark is not None and shown.about is not None:
            template = self._templates[f"{view.language}.bias.shown.{shown.remark}"]
            lines.append(template.render(response=named[shown.about], share=str(shown.share)))
        if lines:
            yield _joined(lines)

    def _task(self, frame: Mapping[str, Template], view: LayerView) -> str:
        """The general question and the form of the answer."""
        tie = view.pair.shown is None or view.pair.shown.tie
        wanted = (view.language, view.family, view.form, view.evidence, tie)
        if wanted not in self._tasks:
            what = "evidence" if view.evidence else "scores"
            criteria = self._family(view.language, view.family, "criteria")
            asked = frame[f"judge.{what}"] if tie else self._templates[f"{view.language}.bias.no_tie.{what}"]
            question = asked.render(criteria=criteria)
            self._tasks[wanted] = _joined([question, frame[f"judge.{view.form}_{what}"].render(**_KEYS)])
        return self._tasks[wanted]


class _Pictures:
    """The pictures of a pair's texts as they come into a prompt. A picture is named by the text that it belongs to in
    the order of the prompt: its name goes with the response when the order is turned round."""

    def __init__(self, frame: Mapping[str, Template], pair: Pair, mark: str) -> None:
        self.seen: list[PromptPicture] = []
        self._template = frame["block.picture"]
        self._pair = pair
        self._mark = mark

    def marked(self, name: str, text: str) -> str:
        """A text with marks in place of its placeholders."""
        return named_text(text, self._pair.pictures, lambda placed: self._take(name, placed))

    def _take(self, name: str, placed: PlacedPicture) -> str:
        mark = self._template.render(number=str(placed.number), name=name, mark=self._mark)
        self.seen.append(PromptPicture(mark, placed.picture))
        return mark


@cache
def _default() -> PromptBook:
    return PromptBook(shipped())


def union_roles(heard: Iterable[Heard]) -> tuple[Role, ...]:
    """The roles of those heard with the roles that they had inherited, each once, in the order of hearing."""
    roles: dict[Role, None] = {}
    for evaluation in heard:
        roles |= dict.fromkeys(evaluation.inherited)
        if evaluation.role is not None:
            roles[evaluation.role] = None
    return tuple(roles)


def _discussion(frame: Mapping[str, Template], view: LayerView) -> str:
    """The evaluations heard, by the names that the reader of ``view`` knows, and the union of the roles."""
    parts = [frame["heard.intro"].text]
    for neuron, evaluations in groupby(view.heard, key=lambda heard: heard.neuron):
        shown = list(evaluations)
        role = shown[0].role
        if role is None:
            lines = [frame["heard.judge"].render(neuron=str(neuron))]
        else:
            name = _words(frame, role.name, view.mark)
            lines = [frame["heard.judge_with_role"].render(neuron=str(neuron), role=name, mark=view.mark)]
        lines += [_rendered(frame, view, evaluation) for evaluation in shown]
        parts.append(_joined(lines))
    roles = union_roles(view.heard)
    if roles:
        words = _criterion_words if view.by_criteria else _described
        described = (words(frame, role, view.mark) for role in roles)
        listed = [frame["heard.role"].render(role=text) for text in described]
        whole = frame["heard.roles"].render(roles=_joined(listed), mark=view.mark)
        parts.append(whole if "roles" in frame["heard.roles"].names else _joined([whole, *listed]))
    return _joined(parts, "\n\n")


def _rendered(frame: Mapping[str, Template], view: LayerView, heard: Heard) -> str:
    """One evaluation or its absence, in the order in which the reader sees the responses."""
    same = heard.order == view.order
    result = heard.result
    if isinstance(result, Unscored):
        reason = frame[f"missing.{result.reason}"].text
        missing = frame["heard.missing"].render(reason=reason)
        return _joined([frame["heard.same_order" if same else "heard.other_order"].text, missing])
    if result.score_a is None or result.score_b is None:
        first = "a" if view.order == "ab" else "b"
        which = "tie" if result.verdict == "tie" else "first" if result.verdict == first else "second"
        opinion = frame[f"heard.{which}"].text
    else:
        # Expected scores have more digits than a judge would write.
        digits = ".10g" if result.shares is None else ".2f"
        a, b = format(result.score_a, digits), format(result.score_b, digits)
        score_1, score_2 = (a, b) if view.order == "ab" else (b, a)
        opinion = frame["heard.scores"].render(score_1=score_1, score_2=score_2)
    evidence = _unmarked(result.evidence.strip(), view.mark)
    if _guarded(frame):
        evidence = _LOOKS_LIKE_A_DELIMITER.sub("‹\\1›", evidence)
    if not evidence:
        return _joined([frame["heard.same_order" if same else "heard.other_order"].text, opinion])
    label = frame["heard.same_order" if same else "heard.other_names"].text
    block = frame["block.text"].render(name=frame["block.evidence"].text, mark=view.mark, text=evidence)
    return _joined([label, block, opinion])


def _described(frame: Mapping[str, Template], role: Role, mark: str) -> str:
    name, description = _words(frame, role.name, mark), _words(frame, role.description, mark)
    if not description:
        return frame["own.role_name"].render(name=name)
    return frame["own.role_described"].render(name=name, description=description)


def _opening_of_criteria(frame: Mapping[str, Template], criteria: Sequence[Criterion]) -> str:
    weighted = weights_differ([criterion.weight for criterion in criteria])
    return frame["opening.weighted_criteria" if weighted else "opening.criteria"].text


def _criteria(frame: Mapping[str, Template], criteria: Sequence[Criterion], mark: str) -> str:
    """The list of a pair's criteria, set apart as the other texts are."""
    weighted = weights_differ([criterion.weight for criterion in criteria])
    item = frame["block.weighted_criterion" if weighted else "block.criterion"]
    lines = [
        item.render(
            criterion=_criterion_words(frame, Role(criterion.name, criterion.description), mark),
            weight=f"{criterion.weight:g}",
        )
        for criterion in criteria
    ]
    return frame["block.text"].render(name=frame["block.criteria"].text, mark=mark, text=_joined(lines))


def _criterion_words(frame: Mapping[str, Template], role: Role, mark: str) -> str:
    """A criterion on one line, cut to the stated length."""
    return _cut(_words(frame, criterion_text(role.name, role.description), mark), CRITERION_LENGTH)


def criteria_roles(pair: Pair) -> tuple[Role, ...]:
    """The roles that a pair's criteria are, in their order."""
    return tuple(Role(criterion.name, criterion.description) for criterion in pair.criteria)


def criteria_note(pair: Pair) -> str:
    """How many of a pair's criteria are cut in prompts, for the record; empty where none is."""
    cut = sum(len(" ".join(criterion.text.split())) > CRITERION_LENGTH for criterion in pair.criteria)
    return f"{cut} of {len(pair.criteria)} criteria cut to {CRITERION_LENGTH:,} characters" if cut else ""


NAME_LENGTH = 80
DESCRIPTION_LENGTH = 400
"""The longest name and description of a generated role, in characters. A name and one sentence are asked for."""

_LOOKS_LIKE_A_DELIMITER = re.compile("<<([^<>\n]{1,120})>>")


def short_role(role: Role) -> Role:
    """A generated role with its name and description cut to the stated length."""
    return Role(_cut(role.name, NAME_LENGTH), _cut(role.description, DESCRIPTION_LENGTH))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _guarded(frame: Mapping[str, Template]) -> bool:
    """Whether the texts set the words of other judges apart. Those of version 0.1 do not; runs that were begun with
    them keep each of their prompts as it was."""
    return "mark" in frame["own.role"].names


def _words(frame: Mapping[str, Template], text: str, mark: str) -> str:
    """A role's words on one line, without the mark and, where they are set apart, without look-alikes of it."""
    return _line(text, mark, _guarded(frame))


@lru_cache(maxsize=1024)
def _line(text: str, mark: str, guarded: bool) -> str:
    """A role's text on one line: generated roles are a model's words. All who hear of a role are told the same."""
    line = _unmarked(" ".join(text.split()), mark)
    return _LOOKS_LIKE_A_DELIMITER.sub("‹\\1›", line) if guarded else line


def _unmarked(text: str, mark: str) -> str:
    """A model's text with the mark taken out, so that an echo of it cannot close a block."""
    if mark.lower() not in text.lower():
        return text
    return re.sub(re.escape(mark), "…", text, flags=re.IGNORECASE)


def _joined(parts: Iterable[str], between: str = "\n") -> str:
    return between.join(part for part in parts if part)


_MARK_LENGTH = 9


def mark_of(pair: Pair, salt: str) -> str:
    """The mark of a pair's delimiters: nine letters of an HMAC-SHA256 of its content, keyed with ``salt``.

    The same pair and salt always give the same mark, so a prompt finds its recorded answers again; without
    the salt it cannot be guessed (42 bits). A mark that occurs in one of the pair's texts is passed over for
    the next. Letters, since a model's tokenizer needs fewer tokens for them than for as many bits of digits. How the
    bias lab shows a pair does not change its mark.
    """
    criteria = (criterion.text for criterion in pair.criteria)
    texts = "\n".join((pair.question, pair.response_a, pair.response_b, pair.reference or "", *criteria)).lower()
    key = salt.encode("utf-8", "surrogatepass")
    content = pair.content_hash if pair.shown is None else replace(pair, shown=None).content_hash
    marks = (_letters(hmac.digest(key, f"{content}:{attempt}".encode("ascii"), "sha256")) for attempt in count())
    return next(mark for mark in marks if mark not in texts)


def _letters(digest: bytes) -> str:
    number = int.from_bytes(digest, "big")
    return "".join(string.ascii_lowercase[number // 26**place % 26] for place in range(_MARK_LENGTH))


_DATA_SETS = {
    "bagel": "data_to_text",
    "code-contests": "code",
    "eli5": "question_answering",
    "hellaswag": "continuation",
    "hh-rlhf": "dialogue",
    "mt-bench": "dialogue",
    "openmeva": "story",
    "pku-saferlhf": "safety",
    "reward-aira-portuguese": "question_answering",
    "rlhf-reward-chinese": "question_answering",
    "rlhf-reward-russian": "dialogue",
    "shp": "question_answering",
    "summarizefeedback": "summary",
    "summeval": "summary",
    "webgpt": "question_answering",
}
"""The tasks of LLMEval² as its file names them."""

# The first that fits counts: a summary of a dialogue is a summary.
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("summary", ("summary", "summaries", "summarization", "summarisation", "tldr", "摘要", "总结", "概括")),
    ("code", ("code", "coding", "programming", "humaneval", "mbpp", "livecodebench", "代码", "编程")),
    ("data_to_text", ("data-to-text", "data2text", "table-to-text", "webnlg", "e2e-nlg", "数据到文本", "数据转文本")),
    ("story", ("story", "stories", "rocstories", "story-cloze", "故事")),
    ("safety", ("safety", "harmlessness", "harmless", "saferlhf", "安全", "无害")),
    ("dialogue", ("dialogue", "dialogues", "dialog", "conversation", "chat", "chitchat", "multi-turn", "对话", "聊天")),
    ("continuation", ("continuation", "text-completion", "sentence-completion", "续写")),
    ("question_answering", ("question-answering", "open-question", "qa", "reading-comprehension", "问答", "阅读理解")),
)


def family_of(pair: Pair) -> str:
    """The task family of a pair by the name of its task; ``"general"`` where the name says nothing."""
    return _family_of_task(pair.task or "")


@lru_cache(maxsize=1024)
def _family_of_task(task: str) -> str:
    name = "-".join(re.findall(r"[^\W_]+", task.casefold()))
    if name in _DATA_SETS:
        return _DATA_SETS[name]
    for family, words in _WORDS:
        for word in words:
            # Chinese writes no spaces between words.
            if (f"-{word}-" in f"-{name}-") if word.isascii() else (word in name):
                return family
    return "general"


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA = re.compile("[\u3040-\u30ff]")
_OTHER_WORD = re.compile("[^\\W\\d_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")


def language_of(pair: Pair) -> PromptLanguage:
    """``"zh"`` where the pair is mostly Chinese: more Han characters than words of other scripts.

    Japanese, which writes with Han characters too, is recognised by its kana.
    """
    text = "\n".join((pair.question, pair.response_a, pair.response_b))
    if pair.pictures:
        text = spoken_text(text, pair.pictures)
    if text.isascii():
        return "en"
    han = len(_HAN.findall(text))
    if not han or len(_KANA.findall(text)) * 10 > han:
        return "en"
    return "zh" if han > len(_OTHER_WORD.findall(text)) else "en"
