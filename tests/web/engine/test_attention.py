"""The attention of each token of a reply, in Chromium against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from transformers import AutoTokenizer

from split_client.api import AttentionRequest, SplitClient
from split_client.chat.attended import Transcript
from split_client.chat.brightness.formula import look, new
from split_client.chat.brightness.rows import row_of
from split_client.generation.sampling.params import SamplingParams
from split_client.model.token_pieces import pieces_of
from split_server.checkpoint.folder import EMBEDDED
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.web.chat_page import ChatPage
from tests.web.engine.attended import (
    COUNT,
    MESSAGES,
    ROWS,
    attended,
    dense,
    eager_means,
    prompt_ids,
    row,
    same_rows,
)
from tests.web.engine.page import EnginePage, opened, serve_engine_page

# As the page asks at the end of a reply, for the whole row.
_WHOLE = AttentionRequest(dtype="f16", reduce="mean")
_QUESTION = "What is split inference?"


@pytest.fixture(scope="module")
def server(folder: Path, web_root: Path) -> Iterator[RunningServer]:
    with running_server(web_root=str(web_root)) as running:
        serve_engine_page(running, folder)
        yield running


@pytest.fixture(scope="module")
def client(
    server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path_factory.mktemp("cache")) as client:
        yield client


@pytest.fixture(scope="module")
def wanted(client: SplitClient) -> tuple[list[int], list[Any]]:
    """Ids of the Python client's reply, and its rows as the page keeps them."""
    events = client.chat(MESSAGES, SamplingParams(), max_tokens=COUNT, attention=ROWS).events()
    told = [(event.token, event.attention) for event in events if hasattr(event, "attention")]
    rows = [
        dense(attention, len(prompt_ids()) + at)
        for at, (_, attention) in enumerate(told)
        if attention is not None
    ]
    return [token for token, _ in told], rows


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_rows_are_those_of_the_python_client(
    chromium: Browser,
    server: RunningServer,
    wanted: tuple[list[int], list[Any]],
    transport: str,
) -> None:
    ids, rows = wanted
    with opened(chromium, server) as page:
        page.ready(server.url, transport=transport)
        answer = page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        assert answer["ids"] == ids
        same_rows(page, rows)
        assert row(page, COUNT).size == 0
        width = len(rows[-1])
        padded = np.stack(
            [np.pad(each.astype(np.float64), (0, width - len(each))) for each in rows]
        )
        np.testing.assert_array_equal(row(page, None), padded.mean(0).astype(np.float32))


def test_rows_are_those_of_eager_attention(wanted: tuple[list[int], list[Any]]) -> None:
    """With the test before: those of the page are."""
    ids, rows = wanted
    prompt = prompt_ids()
    eager = eager_means(prompt + ids)
    for place, looked in enumerate(rows, len(prompt)):
        # Half precision; of more than 76 positions the largest weights alone.
        expected = np.sort(eager[place - 1, :place])[::-1][:76]
        np.testing.assert_allclose(np.sort(looked)[::-1][:76], expected, rtol=1e-3, atol=1e-5)
        told = looked > 0
        np.testing.assert_allclose(
            looked[told], eager[place - 1, :place][told], rtol=1e-3, atol=1e-5
        )


@pytest.mark.parametrize("transport", ["websocket", pytest.param("http", marks=pytest.mark.slow)])
def test_cut_connections_neither_shift_nor_repeat_a_row(
    chromium: Browser,
    server: RunningServer,
    wanted: tuple[list[int], list[Any]],
    transport: str,
) -> None:
    ids, rows = wanted
    with CuttingProxy(server.port) as way, opened(chromium, server, way.url) as page:
        page.ready(way.url, transport=transport)
        page.begin("reply", MESSAGES, maxTokens=COUNT, attention=True)
        for tokens in (3, 9, 15):
            page.page.wait_for_function("(n) => tokensOf('reply').length >= n", arg=tokens)
            way.cut_after(300)
        assert page.finished("reply")["ids"] == ids
        assert way.cuts >= 1
        same_rows(page, rows)


def test_a_session_that_the_server_dropped_brings_the_same_rows(
    chromium: Browser, server: RunningServer, wanted: tuple[list[int], list[Any]]
) -> None:
    ids, rows = wanted
    with opened(chromium, server) as page:
        page.ready(server.url)
        page.begin("reply", MESSAGES, maxTokens=COUNT, attention=True)
        page.page.wait_for_function("() => tokensOf('reply').length >= 5")
        store = server.parts.steps.store
        before = set(store._sessions)
        store.forget(lambda _: True)
        assert page.finished("reply")["ids"] == ids
        assert set(store._sessions) - before
        # Of a prompt that is sent again in one pass, rounding differs.
        for token, expected in enumerate(rows):
            np.testing.assert_allclose(row(page, token), expected, rtol=0, atol=1e-3)


def test_the_text_is_cut_into_the_same_pieces_as_by_the_python_client(
    chromium: Browser, server: RunningServer, client: SplitClient
) -> None:
    with opened(chromium, server) as page:
        page.ready(server.url)
        answer = page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        told = attended(page)
        assert attended(page, 3)["spans"] == told["spans"][3:]
    prompt = prompt_ids()
    pieces = pieces_of(client.ends.tokenizer, prompt + answer["ids"])
    spans = told["spans"]
    assert [(span["start"], span["stop"]) for span in spans] == [
        (piece.start, piece.stop) for piece in pieces
    ]
    texts = ["" if span["kind"] == "control" else span["text"] for span in spans]
    assert texts == [piece.text for piece in pieces]
    for message in MESSAGES:
        own = [span["text"] for span in spans if span["kind"] == message["role"]]
        assert "".join(own) == message["content"]
    said = [span["text"] for span in spans if span["kind"] == "assistant"]
    assert "".join(said) == answer["text"]


def seen(page: EnginePage, call: str, *values: Any) -> Any:
    """What the engine answers; typed arrays as lists."""
    script = """async ([call, values]) => {
      const plain = (value) => {
        if (ArrayBuffer.isView(value)) return Array.from(value);
        if (Array.isArray(value)) return value.map(plain);
        if (!value || typeof value !== 'object') return value;
        return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
      };
      return plain(await engine[call](...values));
    }"""
    return page.page.evaluate(script, [call, list(values)])


def test_every_token_of_a_chat_is_found_in_the_message_that_it_wrote(
    chromium: Browser, server: RunningServer
) -> None:
    with opened(chromium, server) as page:
        page.ready(server.url)
        answer = page.reply(MESSAGES, maxTokens=COUNT)
        said = [*MESSAGES, {"role": "assistant", "content": answer["text"]}]
        told = seen(page, "chatTokens", {"chat": "chat", "messages": said})
        # All but the token that ended it.
        assert told["positions"] == len(prompt_ids()) + len(answer["ids"]) - 1
        texts = ["", "", ""]
        for message, at, length in zip(told["message"], told["at"], told["length"], strict=True):
            units = said[message]["content"].encode("utf-16-le")
            texts[message] += units[2 * at : 2 * (at + length)].decode("utf-16-le")
        assert texts == [message["content"] for message in said]
        other = seen(page, "chatTokens", {"chat": "another", "messages": said})
        assert other["positions"] == told["positions"]


def test_the_rows_of_all_heads_are_fetched_by_a_session_of_its_own(
    chromium: Browser, server: RunningServer, wanted: tuple[list[int], list[Any]]
) -> None:
    with opened(chromium, server) as page:
        page.ready(server.url)
        answer = page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        said = [*MESSAGES, {"role": "assistant", "content": answer["text"]}]
        position = len(prompt_ids()) + 20
        wish = {"chat": "chat", "messages": said, "position": position, "noised": False}
        cost = seen(page, "headsCost", position)
        before = seen(page, "stats")
        heads = seen(page, "heads", wish)
        after = seen(page, "stats")
        assert after["bytesDown"] - before["bytesDown"] <= cost["down"] + 2000
        assert after["bytesUp"] - before["bytesUp"] <= cost["up"] + 2000
        weights = np.asarray(heads["weights"], np.float32).reshape(-1, position)
        assert len(weights) == heads["layers"] * heads["heads"]
        mean = weights.mean(axis=0)
        told = wanted[1][20] > 0
        np.testing.assert_allclose(mean[told], wanted[1][20][told], rtol=0, atol=2e-3)
        # What the chat's own session had computed did not travel again.
        assert heads["sent"] < position
        refused = page.page.evaluate(
            "(wish) => engine.heads({ ...wish, noised: true }).catch((error) => error.code)", wish
        )
        assert refused == "attention_noised"
        again = page.reply(MESSAGES, maxTokens=COUNT)
        assert again["ids"] == answer["ids"]


def test_brightness_is_what_the_python_client_makes_of_the_same_rows(
    chromium: Browser, server: RunningServer, client: SplitClient
) -> None:
    short = {"role": "user", "content": "Why?"}
    said = [*MESSAGES, {"role": "assistant", "content": "It cuts a model."}, short]
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    prompt = tokenizer.apply_chat_template(said, add_generation_prompt=True, return_dict=False)
    events = client.chat(said, SamplingParams(), max_tokens=COUNT, attention=ROWS).events()
    rows = [each.attention for each in events if getattr(each, "attention", None) is not None]
    bright = new(len(prompt))
    with opened(chromium, server) as page:
        page.ready(server.url)
        script = """([said, count]) => {
          const brightness = said.map(({ content }) => new Uint16Array(content.length).fill(32768));
          begin('reply', { chat: 'chat', messages: said, params: { temperature: 0 },
            maxTokens: count, stop: [], adapter: null, attention: true, brightness });
        }"""
        page.page.evaluate(script, [said, COUNT])
        page.finished("reply")
        told = seen(page, "gathered", "chat")
        places = seen(page, "chatTokens", {"chat": "chat", "messages": said})
    turn = places["start"][places["message"].index(3)]
    for at, attention in enumerate(rows):
        look(bright[:turn], row_of("mean", attention, len(prompt) + at))
    assert told[3] is None
    assert len({each for message in told[:3] for each in message}) > 3
    columns = ("start", "stop", "message", "at", "length")
    for start, stop, message, at, length in zip(*(places[each] for each in columns), strict=True):
        if message < 3:
            assert set(told[message][at : at + length]) == {int(bright[start:stop].max())}


def test_without_the_capability_the_reply_is_the_same_and_brings_no_rows(
    chromium: Browser,
    server: RunningServer,
    wanted: tuple[list[int], list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("split_server.sessions.framed.CAPABILITY", "something_else")
    with opened(chromium, server) as page:
        page.ready(server.url)
        answer = page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        assert answer["ids"] == wanted[0]
        told = attended(page)
        assert (told["first"], told["end"], told["tokens"]) == (0, 0, len(wanted[0]))
        notices = page.page.evaluate("notices")
        assert notices == [{"type": "no_attention", "code": "unsupported"}]


def test_the_page_names_what_the_terminal_names(
    chromium: Browser, server: RunningServer, client: SplitClient
) -> None:
    """The tokens with the largest shares, and those shares, for tokens all over the reply."""
    session = client.conversation()
    session.params = SamplingParams()
    session.send(_QUESTION).read()
    answered = session.answered
    assert answered is not None
    pieces = pieces_of(client.ends.tokenizer, answered.ids)
    transcript = Transcript(pieces, answered.prompt_tokens, answered.messages)
    context = chromium.new_context()
    chat = ChatPage(context.new_page(), touch=False)
    page = chat.page
    page.goto(server.url)
    chat.download()
    chat.set_number("Temperature", "0")
    chat.press("Settings")
    page.get_by_label("Show what each token looked at").check()
    page.keyboard.press("Escape")
    chat.write(_QUESTION)
    chat.whole_reply(0)
    chat.press("What it looked at")
    slider = page.get_by_role("slider")
    page.get_by_role("radio", name="One token").check(force=True)
    for token in (0, 1, 7, 20):
        weights = session.attend(answered.ids[: answered.prompt_tokens + token], _WHOLE)
        wanted = transcript.attended(weights)
        slider.fill(str(token))
        name = pieces[answered.prompt_tokens + token].text.strip()
        expect(page.locator("caption")).to_have_text(f"To choose “{name}”, it looked at")
        cells = page.locator(".shares :is(th, .number)").all_inner_texts()
        assert cells == [
            cell for text, share in wanted.most(5) for cell in (f"“{text.strip()}”", f"{share:.1%}")
        ]
        expect(page.get_by_text("on the chat template")).to_have_text(
            f"{wanted.first:.1%} on the first position, {wanted.template:.1%} on the chat template."
        )
    assert chat.errors == []
    context.close()
