"""Pictures on their way: the right bytes arrive, beside the right response, in both orders and in every dialect."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from judgenet.core import presets
from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.events import Event
from judgenet.core.network import NetworkError, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.prompts import PromptBook
from judgenet.engine.batches import BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.estimate import estimate_run
from judgenet.engine.probe import probe
from judgenet.engine.providers.errors import classify, error_info
from judgenet.engine.session import Engine, Start
from judgenet.formats import read_pairs
from judgenet.formats.pictures import PictureError, file_bytes, sent_form
from judgenet.store.db import Store
from judgenet.store.pictures import copy_pictures, keep_pictures, kept_picture
from judgenet.store.runs import run_info, run_pairs
from tests.fakes.judge_server import BLIND_WORDS, JudgeServer


def png(color: str, size: tuple[int, int] = (8, 6)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return out.getvalue()


def uri(data: bytes) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(data).decode()}"}}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


QUESTION, FIRST, SECOND = png("white"), png("red"), png("blue")


@pytest.fixture
def pairs(tmp_path: Path) -> tuple[Pair, ...]:
    return with_three_pictures(tmp_path)


def with_three_pictures(folder: Path) -> tuple[Pair, ...]:
    """One pair with a picture in each of its texts."""
    record = {
        "id": "p",
        "question": [{"type": "text", "text": "Which is like this? "}, uri(QUESTION)],
        "response_a": [uri(FIRST), {"type": "text", "text": " (A)"}],
        "response_b": [{"type": "text", "text": "mine: "}, uri(SECOND)],
    }
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    return read_pairs(path).pairs


def start_of(pairs: Sequence[Pair], url: str, kind: EndpointKind = "openai", model: str = "seer") -> Start:
    spec = presets.network(2, 2, roles="none")
    profile = EndpointProfile("e", kind=kind, base_url=url, model=model, concurrency=4)
    return Start(
        replace(spec, settings=Settings(endpoint="e", model=model)),
        pairs,
        PromptBook.default(),
        PriceTable(()),
        {"e": profile},
        "salt",
    )


def run(store: Store, start: Start) -> list[Event]:
    events: list[Event] = []
    with Engine() as engine:
        engine.start(store, start, events.append).future.result(30)
    return events


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "ollama"])
def test_the_right_pictures_arrive_in_both_orders(kind: EndpointKind, pairs: tuple[Pair, ...], tmp_path: Path) -> None:
    with JudgeServer() as server, Store.open(tmp_path / "s.db") as store:
        run(store, start_of(pairs, server.url, kind))
        assert len(server.log) == 8
        for entry in server.log:
            turned = entry.messages[-1]["content"].index("(A)") > entry.messages[-1]["content"].index("mine:")
            one, two = (SECOND, FIRST) if turned else (FIRST, SECOND)
            assert [(seen.media, seen.sha256) for seen in entry.pictures] == [
                ("image/png", sha(data)) for data in (QUESTION, one, two)
            ]
            names = [seen.after.rpartition("<<")[2].partition(" · ")[0] for seen in entry.pictures]
            assert names == [f"picture 1 of {of}" for of in ("input", "Response 1", "Response 2")]
        # Half of the calls are in each order, in the deeper layer as well.
        assert sorted(entry.pictures[1].sha256 for entry in server.log) == sorted([sha(FIRST), sha(SECOND)] * 4)
        # Everything is in the store: the same run asks nothing again, and its pictures are there without the file.
        run(store, start_of([next(run_pairs(store, run_info(store))).pair], server.url, kind))
        assert len(server.log) == 8
        assert kept_picture(store, sha(FIRST)) == FIRST


def test_another_picture_is_another_question(pairs: tuple[Pair, ...], tmp_path: Path) -> None:
    """Equal pictures give equal keys; a picture that differs gives others, though no word differs."""
    from judgenet.engine.questions import Questions

    def keys(pair: Pair) -> list[bytes]:
        questions = Questions(presets.network(1, 1, roles="none"), PromptBook.default(), "salt", lambda *_: ())
        return [questions.question(call, "text").key for call in questions.take_up(0, pair)[1]]

    (pair,) = pairs
    first = replace(pair.pictures[1], sha256=pair.pictures[1].sha256[:8] + "0" * 56)
    other = replace(pair, pictures=(pair.pictures[0], first, pair.pictures[2]))
    assert keys(pair) == keys(replace(pair, id="other"))
    assert other.response_a == pair.response_a
    assert not set(keys(pair)) & set(keys(other))


@pytest.mark.parametrize("server_words", BLIND_WORDS)
def test_a_model_that_sees_nothing_stops_for_pairs_with_pictures(
    server_words: str, pairs: tuple[Pair, ...], tmp_path: Path
) -> None:
    words = Pair("words", "2 + 2?", "4", "5")
    with JudgeServer(blind=server_words) as server, Store.open(tmp_path / "s.db") as store:
        run(store, start_of([*pairs, words], server.url))
        info = run_info(store)
        assert info.state == "halted"
        assert "This model takes no pictures" in info.message
        assert [pair.state for pair in run_pairs(store, info)] == ["open", "done"]
        assert sum(bool(entry.pictures) for entry in server.log) == 1
        # A model that sees goes on where that one stopped.
        server.set(blind="")
        run(store, start_of([*pairs, words], server.url))
        assert run_info(store).state == "done"


def test_one_bad_picture_says_nothing_of_the_model() -> None:
    for words in ("Invalid image data.", "The image format is not supported. Use PNG, JPEG, GIF or WebP.", "no"):
        fault = classify(400, error_info(f'{{"error": {{"message": "{words}"}}}}'.encode()), None, pictures=True)
        assert fault.action == "fail"
    told = error_info(b'{"error": {"message": "some/model is not a multimodal model"}}')
    assert classify(400, told, None).action == "fail"


@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "deepseek-r1", "meta-llama/Llama-3.1-8B-Instruct"])
def test_a_known_text_model_is_refused_before_anything_is_paid(
    model: str, pairs: tuple[Pair, ...], tmp_path: Path
) -> None:
    with JudgeServer() as server, Store.open(tmp_path / "s.db") as store, Engine() as engine:
        with pytest.raises(NetworkError, match="sees no pictures, and 1 of 1 pair has some"):
            engine.start(store, start_of(pairs, server.url, model=model), lambda event: None)
        assert not server.log


def test_pictures_count_in_the_estimate(pairs: tuple[Pair, ...]) -> None:
    bare = tuple(replace(pair, pictures=()) for pair in pairs)
    # 85 + 170 tokens of a tile for each of three pictures in each of 8 calls (OpenAI, "Images and vision").
    seen, without = (
        estimate_run(start_of(given, "http://localhost:1", model="gpt-4o"), None).estimate for given in (pairs, bare)
    )
    assert seen.tokens_in.low - without.tokens_in.low == 8 * 3 * 255


def test_a_file_that_changed_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    path.write_bytes(FIRST)
    (tmp_path / "p.csv").write_text("question,response_a,response_b,image\nq,a,b,one.png\n", encoding="utf-8")
    from judgenet.formats import PairMapping

    (pair,) = read_pairs(tmp_path / "p.csv", mapping=PairMapping({"pictures_a": "image"})).pairs
    assert file_bytes(pair.pictures[0]) == FIRST
    path.write_bytes(SECOND)
    with Store.open(tmp_path / "s.db") as store, Engine() as engine, pytest.raises(PictureError, match="has changed"):
        engine.start(store, start_of([pair], "http://localhost:1"), lambda event: None)


def test_large_pictures_are_sent_smaller() -> None:
    media, data = sent_form(png("green", (3136, 100)))
    with Image.open(io.BytesIO(data)) as image:
        assert (media, image.format, image.size) == ("image/png", "PNG", (1568, 50))
    assert sent_form(FIRST) == ("image/png", FIRST)


@pytest.mark.parametrize(
    ("blind", "sees", "words"), [("", True, ""), ("silent", False, ""), ("vllm", None, "takes no pictures")]
)
def test_a_probe_tells_whether_a_model_sees(blind: str, sees: bool | None, words: str) -> None:
    """Some servers take pictures and drop them: only a question about one shows that."""
    with JudgeServer(blind=blind) as server:
        profile = EndpointProfile("e", base_url=server.url, model="seer", retries=0)
        found = asyncio.run(probe(profile, "seer", None, "", picture=True))
        assert (found.sees, words in found.message) == (sees, True)
        assert [len(entry.pictures) for entry in server.log] == [1]
    embedded = EndpointProfile("own", kind="embedded")
    assert "takes no pictures" in asyncio.run(probe(embedded, "demo", None, "", picture=True)).message


def test_shards_and_their_merge_have_their_pictures(pairs: tuple[Pair, ...], tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as first, Store.open(tmp_path / "b.db") as second:
        keep_pictures(first, pairs)
        first.flush()
        second.run_now(lambda db: copy_pictures(first, db))
        assert kept_picture(second, sha(SECOND)) == SECOND
        # Kept once, however many pairs have it.
        keep_pictures(first, [replace(pairs[0], id="again")])
        assert first.reader.execute("SELECT count(*) FROM pictures").fetchone()[0] == 3


def test_a_budget_counts_pictures_before_they_are_sent(pairs: tuple[Pair, ...], tmp_path: Path) -> None:
    """Three pictures of 1,120 tokens each (Gemini 3) do not fit into a budget that the words alone would."""
    bare = tuple(replace(pair, pictures=()) for pair in pairs)
    for given, tokens, asked in ((pairs, 3_000, False), (bare, 3_000, True), (pairs, 200_000, True)):
        with JudgeServer() as server, Store.open(tmp_path / f"{tokens}{asked}.db") as store:
            start = start_of(given, server.url, "gemini", "gemini-3-pro")
            run(store, replace(start, limits=Limits(max_tokens=tokens)))
            assert bool(server.log) == asked
            assert run_info(store).state == ("done" if tokens == 200_000 else "budget")


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
def test_pictures_go_into_batches(kind: EndpointKind, pairs: tuple[Pair, ...], tmp_path: Path) -> None:
    with JudgeServer() as server, Store.open(tmp_path / "s.db") as store:
        root = server.url + ("/v1" if kind == "openai" else "")
        run(store, replace(start_of(pairs, root, kind), batch=BatchChoice()))
        assert run_info(store).state == "done"
        bodies = [json.dumps(body) for batch in server.judge.batches.batches for _, body in batch.requests]
        live = [[seen.sha256 for seen in entry.pictures] for entry in server.log]
    assert bodies
    for body in bodies:
        places = [body.index(base64.b64encode(data).decode()) for data in (QUESTION, FIRST, SECOND)]
        assert places[0] == min(places)
        # The picture stands behind the words of its own response.
        turned = body.index("(A)") > body.index("mine:")
        assert (places[1] > places[2]) == turned
    assert all(len(pictures) == 3 for pictures in live if pictures)
