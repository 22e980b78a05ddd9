"""Noised mode in a real Chromium: a server is sent what the terminal client sends it, and no more.

The engine is that of the app; a fixed key stands where a browser draws a random one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from split_client.api import NoiseSettings, SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests.server_process import RunningServer, running_server
from tests.web.engine.page import EnginePage, engine_folder, opened, serve_engine_page
from tests.web.noise.records import Seen, forget_all, keys_of, use_key

KEY = bytes(range(32))
FIRST, SECOND, EDITED = "What is split inference?", "And what does the relay do?", "Thank you!"
LITTLE = {"sigma": 0.02}
CLOSE = 1e-9


@pytest.fixture(scope="module")
def server(web_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """In bfloat16, so that what travels is rounded once more."""
    folder = engine_folder(web_root, tmp_path_factory.mktemp("engine") / "page")
    with running_server(dtype="bfloat16") as running:
        serve_engine_page(running, folder)
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def seen(server: RunningServer) -> Iterator[Seen]:
    seen = Seen()
    end = seen.watch(server.parts.framed)
    yield seen
    end()


@pytest.fixture(scope="module")
def downloaded(chromium: Browser, server: RunningServer) -> Iterator[EnginePage]:
    with opened(chromium, server) as engine:
        engine.ready(server.url)
        yield engine


@pytest.fixture
def engine(downloaded: EnginePage, server: RunningServer) -> EnginePage:
    """A browser that has the model and no records of noise."""
    forget_all(downloaded.page)
    reloaded(downloaded, server)
    return downloaded


def reloaded(engine: EnginePage, server: RunningServer) -> None:
    engine.page.reload()
    engine.page.wait_for_function("() => 'ready' in globalThis")
    engine.ready(server.url)


def said(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]


def status(engine: EnginePage, noise: dict[str, Any], chat: str = "chat") -> dict[str, Any]:
    found: dict[str, Any] = engine.page.evaluate(
        "([chat, noise]) => engine.noise(chat, noise)", [chat, noise]
    )
    return found


def ask(engine: EnginePage, *texts: str, tokens: int = 8, **options: Any) -> dict[str, Any]:
    return engine.reply(said(*texts), maxTokens=tokens, **options)


def test_with_one_key_the_bytes_that_leave_are_those_of_the_terminal_client(
    engine: EnginePage, server: RunningServer, seen: Seen, cache: Path, tmp_path: Path
) -> None:
    """Two turns, an edit and a question asked again, which repeats what was sent."""
    status(engine, LITTLE)
    use_key(engine.page, "chat", KEY)
    first = ask(engine, FIRST, noise=LITTLE)
    second = ask(engine, FIRST, first["text"], SECOND, noise=LITTLE)
    edited = ask(engine, FIRST, first["text"], EDITED, noise=LITTLE)
    told = status(engine, LITTLE)
    browser = seen.taken()

    settings = NoiseSettings(sigma=0.02, key=KEY, ledger=tmp_path / "ledger.json")
    with SplitClient(server.url, cache=cache, noise=settings) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = SamplingParams(), 8
        replies = []
        for text in (FIRST, SECOND):
            reply = chat.send(text)
            reply.read()
            replies.append(reply.token_ids)
        chat.conversation.undo()
        reply = chat.send(EDITED)
        reply.read()
        replies.append(reply.token_ids)
        noise, conversation = client._connected().noise, chat.noise
        assert noise is not None
        assert conversation is not None
        assert seen.taken() == browser
        assert [tuple(each["ids"]) for each in (first, second, edited)] == [*map(tuple, replies)]

        assert told["clip"] == noise.calibration.clip
        assert told["sensitivity"] == pytest.approx(noise.calibration.sensitivity, rel=CLOSE)
        spent = conversation.spent
        assert (told["chat"]["rows"], told["chat"]["sendings"]) == (spent.rows, spent.sendings)
        assert told["chat"]["whole"] == pytest.approx(spent.epsilon(1e-5), rel=CLOSE)
        assert told["chat"]["token"] == pytest.approx(spent.token_epsilon(1e-5), rel=CLOSE)


def test_an_epsilon_stands_for_the_sigma_of_the_terminal_client(
    engine: EnginePage, server: RunningServer, cache: Path, tmp_path: Path
) -> None:
    told = status(engine, {"epsilon": 8, "budget": 2000})
    settings = NoiseSettings(epsilon=8.0, budget_epsilon=2000.0, ledger=tmp_path / "ledger.json")
    with SplitClient(server.url, cache=cache, noise=settings) as client:
        client.connect()
        noise = client._connected().noise
        assert noise is not None
        assert told["sigma"] == pytest.approx(noise.mechanism.sigma, rel=CLOSE)
        assert told["token"] == pytest.approx(noise.mechanism.epsilon(1e-5), rel=CLOSE)
        budget = noise.account.budget
        assert budget is not None
        room = budget.room(noise.account.spent(), noise.account.kind, 1_000_000)
        assert told["budget"]["room"] == room


def test_what_was_sent_is_still_counted_after_a_reload_and_costs_nothing_again(
    engine: EnginePage, server: RunningServer, seen: Seen
) -> None:
    reply = ask(engine, FIRST, noise=LITTLE)
    before, first = status(engine, LITTLE), seen.taken()
    assert before["chat"]["rows"] == reply["promptTokens"] + 7
    reloaded(engine, server)
    assert status(engine, LITTLE) == before
    assert ask(engine, FIRST, noise=LITTLE)["ids"] == reply["ids"]
    assert seen.taken() == first
    assert status(engine, LITTLE) == before


def test_a_lost_session_is_sent_again_with_the_same_bytes_and_in_the_same_dtype(
    engine: EnginePage, server: RunningServer, seen: Seen
) -> None:
    reply = ask(engine, FIRST, noise=LITTLE)
    before, first = status(engine, LITTLE), seen.taken()
    engine.page.evaluate("engine.closeChat('chat')")
    assert ask(engine, FIRST, noise=LITTLE)["ids"] == reply["ids"]
    assert seen.taken() == first
    assert status(engine, LITTLE) == before
    assert seen.dtypes_asked == [None, first[0][1]]


def test_a_budget_stops_before_anything_is_sent(engine: EnginePage, seen: Seen) -> None:
    refused = ask(engine, FIRST, noise={"epsilon": 8, "budget": 10})
    assert refused["error"] == "budget_exhausted"
    assert "no row of it was sent" in refused["message"]
    assert seen.steps == []
    assert status(engine, {"epsilon": 8})["all"]["rows"] == 0


def test_a_reply_ends_where_the_budget_does(
    engine: EnginePage, server: RunningServer, seen: Seen
) -> None:
    noise = {"sigma": 50, "budget": 3}
    room = status(engine, noise)["budget"]["room"]
    endless = {str(token): -100 for token in server.parts.steps.info.eos_token_ids}
    params = {"temperature": 0, "logit_bias": endless}
    assert 50 < room < 1000
    reply = ask(engine, FIRST, tokens=2000, noise=noise, params=params)
    assert reply["error"] == "budget_exhausted"
    told = status(engine, noise)
    assert told["all"]["rows"] == room
    assert told["all"]["whole"] <= 3
    assert told["budget"]["room"] == 0
    width = len(seen.steps[-1][2])
    assert seen.rows == room * width
    assert ask(engine, EDITED, noise=noise, chat="other")["error"] == "budget_exhausted"


def test_what_would_tell_of_the_clean_prompt_is_refused(engine: EnginePage, seen: Seen) -> None:
    penalty = ask(engine, FIRST, noise=LITTLE, params={"repetition_penalty": 1.2})
    assert penalty["error"] == ask(engine, FIRST, noise=LITTLE, adapter="auto")["error"]
    assert penalty["error"] == "noise_forbids"
    assert seen.steps == []


def test_switching_noise_off_sends_the_chat_as_it_is_and_on_again_repeats_its_noise(
    engine: EnginePage, seen: Seen
) -> None:
    plain = ask(engine, FIRST, chat="plain")
    clean = seen.taken()
    first = ask(engine, FIRST, noise=LITTLE)
    noised = seen.taken()
    assert noised[0][2] != clean[0][2]
    assert ask(engine, FIRST)["ids"] == plain["ids"]
    assert seen.taken() == clean
    assert ask(engine, FIRST, noise=LITTLE)["ids"] == first["ids"]
    assert seen.taken() == noised


def test_two_tabs_count_together_and_other_chats_have_other_noise(
    engine: EnginePage, server: RunningServer, seen: Seen
) -> None:
    page = engine.page.context.new_page()
    page.goto(engine.page.url)
    page.wait_for_function("() => 'ready' in globalThis")
    other = EnginePage(page)
    other.ready(server.url)
    engine.begin("one", said(FIRST), chat="one", noise=LITTLE, maxTokens=8)
    two = ask(other, FIRST, chat="two", noise=LITTLE)
    one = engine.finished("one")
    prompt = one["promptTokens"]
    assert status(other, LITTLE)["all"]["rows"] == 2 * (prompt + 7)
    assert two["promptTokens"] == prompt
    assert len({step[2] for step in seen.steps if step[0] == 0}) == 2
    page.close()


def test_a_chat_that_is_deleted_leaves_no_key(engine: EnginePage) -> None:
    ask(engine, FIRST, noise=LITTLE)
    ask(engine, FIRST, noise=LITTLE, chat="other")
    assert keys_of(engine.page, "chats") == ["chat", "other"]
    engine.page.evaluate("engine.forgetNoise('chat')")
    assert keys_of(engine.page, "chats") == ["other"]
    assert {key[0] for key in keys_of(engine.page, "releases")} == {"other"}
    assert status(engine, LITTLE)["all"]["rows"] > 0
