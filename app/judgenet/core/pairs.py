"""The normal form of what a network judges: one question, two responses, what people said."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from judgenet.core.criteria import Criterion
from judgenet.core.pictures import PairPicture, named_text, text_parts

Verdict = Literal["a", "b", "tie"]
"""Which response is better. A missing verdict is ``None``, never ``"tie"``."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Order = Literal["ab", "ba"]
"""The order in which a neuron sees the responses: ``"ba"`` shows response B first."""
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a pair was read: file name, 1-based row (line, record or sheet row)."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class Shown:
    """How the bias lab shows a pair, beyond its texts.

    ``name_a`` and ``name_b`` are named as the authors of the responses; ``own`` are the sides of which the prompt says
    that the judge wrote them itself. ``remark`` is a sentence about the response ``about``: that ``share`` per cent of
    people prefer it (``bandwagon``), or something that does not matter (``distraction``). Without ``tie`` equal scores
    are not offered. ``order`` is the one order in which the pair is shown. ``repeat`` tells repeated askings of the
    very same apart."""

    name_a: str | None = None
    name_b: str | None = None
    own: tuple[Literal["a", "b"], ...] = ()
    remark: Literal["bandwagon", "distraction"] | None = None
    about: Literal["a", "b"] | None = None
    share: int | None = None
    tie: bool = True
    order: Order | None = None
    repeat: int = 0

    def to_json(self) -> dict[str, Any]:
        """What differs from a pair that is shown as it is."""
        values = {
            member.name: getattr(self, member.name)
            for member in fields(self)
            if getattr(self, member.name) != member.default
        }
        return values | ({"own": list(self.own)} if self.own else {})

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Shown:
        """The inverse of :meth:`to_json`; the record is trusted."""
        return cls(**record | {"own": tuple(record.get("own", ()))})


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with two candidate responses.

    ``id`` is unique within a data set and is what results refer to; texts may repeat.
    Texts are kept exactly as read, white space included.
    ``annotators`` holds (annotator name, verdict) in the order of the source. ``shown`` is set in the bias lab only.
    ``criteria`` are what its responses are to be judged by, where the data say so.
    ``pictures`` are those of its texts, where placeholders stand for them (:mod:`judgenet.core.pictures`).
    """

    id: str
    question: str
    response_a: str
    response_b: str
    reference: str | None = None
    model_a: str | None = None
    model_b: str | None = None
    task: str | None = None
    tags: tuple[str, ...] = ()
    human: Verdict | None = None
    annotators: tuple[tuple[str, Verdict], ...] = ()
    source: Source | None = field(default=None, compare=False)
    shown: Shown | None = None
    criteria: tuple[Criterion, ...] = ()
    pictures: tuple[PairPicture, ...] = ()

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of what a judge can see: texts, reference, task, criteria and pictures, and how they are shown;
        labels and names are left out."""
        seen: list[object] = [self.question, self.response_a, self.response_b, self.reference, self.task]
        if self.shown is not None:
            seen.append(self.shown.to_json())
        if self.criteria:
            seen.append([criterion.to_json() for criterion in self.criteria])
        if self.pictures:
            seen.append({"pictures": sorted(picture.sha256 for picture in self.pictures)})
        # ASCII escapes keep lone surrogates encodable.
        return hashlib.sha256(json.dumps(seen).encode("ascii")).hexdigest()

    def response(self, side: Literal["a", "b"]) -> str:
        """The text of one response."""
        return self.response_a if side == "a" else self.response_b

    def readable(self, text: str) -> str:
        """One of its texts as people read it where its pictures are not shown: ``[picture 1]`` in their places."""
        return named_text(text, self.pictures) if self.pictures else text

    def spoken_parts(self) -> list[str]:
        """Its texts as they stand in a prompt: whole, or in the pieces between pictures."""
        texts = (self.question, self.response_a, self.response_b, self.reference or "")
        if not self.pictures:
            return list(texts)
        return [part for text in texts for part in text_parts(text, self.pictures) if isinstance(part, str)]

    def to_json(self) -> dict[str, Any]:
        """The record of the normal form (``pairs.jsonl``), without the source."""
        record: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "response_a": self.response_a,
            "response_b": self.response_b,
        }
        for name in ("reference", "model_a", "model_b", "task", "human"):
            value = getattr(self, name)
            if value is not None:
                record[name] = value
        if self.tags:
            record["tags"] = list(self.tags)
        if self.annotators:
            record["annotators"] = dict(self.annotators)
        if self.shown is not None:
            record["shown"] = self.shown.to_json()
        if self.criteria:
            record["criteria"] = [criterion.to_json() for criterion in self.criteria]
        if self.pictures:
            record["pictures"] = [picture.to_json() for picture in self.pictures]
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Pair:
        """The inverse of :meth:`to_json`; the record is trusted (files go through ``formats``)."""
        values = dict(record)
        values["tags"] = tuple(values.get("tags", ()))
        values["annotators"] = tuple(values.get("annotators", {}).items())
        if "shown" in values:
            values["shown"] = Shown.from_json(values["shown"])
        values["criteria"] = tuple(Criterion(**criterion) for criterion in values.get("criteria", ()))
        values["pictures"] = tuple(map(PairPicture.from_json, values.get("pictures", ())))
        return cls(**values)


def majority(labels: Iterable[Verdict], no_majority: Verdict | None = "tie") -> Verdict | None:
    """The verdict that more than half of the annotators gave.

    ``no_majority`` is returned where no verdict has one (the rule is a setting, statistics 1.4);
    no labels at all give ``None``.
    """
    counts = Counter(labels)
    total = sum(counts.values())
    if not total:
        return None
    verdict, most = counts.most_common(1)[0]
    return verdict if 2 * most > total else no_majority


def systems_of(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """The names of the systems whose responses the pairs hold, each once, sorted."""
    return tuple(sorted({name for pair in pairs for name in (pair.model_a, pair.model_b) if name}))


def question_key(question: str) -> bytes:
    """The key by which questions are told apart: 16 bytes that do not depend on white space or on how letters are
    composed.

    Pairs with the same question depend on each other, so that intervals are over questions (statistics 5.5).
    """
    text = unicodedata.normalize("NFC", " ".join(question.split()))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def data_hash(pairs: Iterable[Pair]) -> str:
    """SHA-256 (hex) over ids and contents of a data set, in order."""
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update(json.dumps([pair.id, pair.content_hash]).encode("ascii"))
    return digest.hexdigest()
