"""Brightness of a chat against the real server with the embedded model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from split_client.api import AttentionRequest, ChatSession, SplitClient
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import BORN, look, new
from split_client.chat.brightness.rows import MODES, request_of, row_of
from split_client.chat.brightness.runs import values_in
from split_client.chat.context.units import units_of
from split_client.generation.loop import TokenEvent
from split_client.saved_chats.document import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from split_client.terminal.chat import ChatLoop
from tests.server_process import running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

TALK = ("What is split inference?", "What does the server see?", "And who has the key?")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SplitClient]:
    with (
        running_server() as server,
        SplitClient(server.url, cache=tmp_path_factory.mktemp("cache")) as client,
    ):
        yield client


def talked(client: SplitClient, mode: str | None, *said: str) -> ChatSession:
    chat = client.conversation(temperature=0)
    chat.max_tokens, chat.brighten = 16, mode  # type: ignore[assignment]
    for text in said or TALK:
        chat.send(text).read()
    return chat


@pytest.fixture(scope="module")
def bright(client: SplitClient) -> ChatSession:
    return talked(client, "last")


@pytest.mark.parametrize("mode", MODES)
def test_brightness_is_that_of_the_rows_of_every_head(client: SplitClient, mode: str) -> None:
    """All weights, reduced here, give about what the server's reduced rows give."""
    chat = talked(client, mode)
    again = client.conversation(temperature=0)
    again.max_tokens, again.attention = 16, AttentionRequest()
    for text in TALK[:2]:
        again.send(text).read()
    before = len(again.conversation.ids_of(again.messages))
    values, ids = new(before), 0
    reply = again.send(TALK[2])
    for event in reply.events():
        if isinstance(event, TokenEvent) and event.attention is not None:
            length = reply.stats.prompt_tokens + ids
            ids += 1
            request = request_of(mode, client.manifest.num_layers)  # type: ignore[arg-type]
            layers = list(request.layers) or slice(None)
            picked = replace(event.attention, values=event.attention.values[layers])
            look(values, row_of(mode, picked, length))  # type: ignore[arg-type]
    assert [each.content for each in again.messages] == [each.content for each in chat.messages]
    assert chat.brightness.known
    looked = chat._looked
    assert looked is not None
    assert len(looked.rows) == ids
    assert np.corrcoef(looked.values[1:before], values[1 : len(looked.values)])[0, 1] > 0.5


def test_only_what_is_before_the_turn_changes(bright: ChatSession) -> None:
    assert [bool(each.brightness) for each in bright.messages] == [True] * 4 + [False] * 2
    own = [values_in(each.brightness, len(each.content)) for each in bright.messages]
    assert all((values == BORN).all() for values in own[4:])
    assert not all((values == BORN).all() for values in own[:4])


def test_tokens_parts_and_messages_have_it(bright: ChatSession) -> None:
    seen = bright.brightness
    assert len(seen.messages) == len(bright.messages)
    for number, message in enumerate(bright.messages):
        assert "".join(token.text for token in seen.tokens(number)) == message.content
        assert tuple(unit for unit, _ in seen.units(number)) == units_of(message)
    with pytest.raises(BrightnessInvalid, match="no message 7"):
        seen.units(6)


def test_the_places_that_the_reply_looked_at_are_parts_of_earlier_turns(
    bright: ChatSession,
) -> None:
    looks = bright.brightness.looks
    assert looks is not None
    assert looks.places
    assert {place.number for place in looks.places} <= {0, 1, 2, 3}
    assert 0 < sum(place.share for place in looks.places) + looks.turn <= 1.0001
    shares = [place.share for place in looks.places]
    assert shares == sorted(shares, reverse=True)


def test_it_is_saved_with_the_chat_and_survives_branches_and_edits(
    bright: ChatSession, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    save_conversation(path, SavedConversation("m", bright.messages))
    loaded = load_conversation(path).messages
    kept = [each.brightness for each in bright.messages]
    assert [each.brightness for each in loaded] == kept
    before = bright.messages
    bright.brighten = None
    bright.answer().read()
    assert [each.brightness for each in bright.messages[:5]] == kept[:5]
    bright.conversation.go_to(before)
    bright.conversation.undo()
    reply = bright.messages[-1]
    bright.conversation.amend(reply.content[:4] + "!")
    amended = values_in(bright.messages[-1].brightness, 5)
    assert amended[:4].tolist() == values_in(reply.brightness, len(reply.content))[:4].tolist()
    assert amended[4] == BORN
    bright.conversation.go_to(before)


@pytest.mark.parametrize(
    ("text", "words"),
    [("AQAB", "pairs"), ("!!!!", "base64"), ("AQABAA==", "characters"), (7, "no text")],
)
def test_a_saved_chat_with_brightness_that_is_none_is_refused(
    text: object, words: str, tmp_path: Path
) -> None:
    message = {"role": "user", "content": "Hello, you.", "brightness": text}
    document = {"format": "gatelink.conversation", "version": 1, "model": "m"}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(document | {"messages": [message]}), "utf-8")
    with pytest.raises(Exception, match=words):
        load_conversation(path)


def test_it_is_written_as_json_and_as_arrays(bright: ChatSession, tmp_path: Path) -> None:
    bright.brightness.save(tmp_path / "b.json")
    document = json.loads((tmp_path / "b.json").read_text("utf-8"))
    assert len(document["messages"]) == len(bright.messages)
    bright.brightness.save(tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz", allow_pickle=False) as arrays:
        texts = arrays["text"][arrays["message"] == 0]
        assert "".join(texts) == bright.messages[0].content
        assert len(arrays["brightness"]) == len(arrays["message"])
    for name, words in (("b.npz", "exists"), ("b.txt", "ends in .json"), ("no/b.npz", "written")):
        with pytest.raises(BrightnessInvalid, match=words):
            bright.brightness.save(tmp_path / name)
    with pytest.raises(BrightnessInvalid, match="no such user"):
        bright.brightness.save("~nobody-is-called-so/b.json")


def test_the_dimmest_parts_go_first(bright: ChatSession) -> None:
    context = bright.context
    context.policy = "dimmest"
    proposal = context.propose(target=context.fill().total - 4)
    assert proposal is not None
    seen = bright.brightness
    units = [(own, number) for number in range(1, 4) for _, own in seen.units(number)]
    first = min(units, key=lambda each: each[0])[1]
    changed = [
        number
        for number, (one, other) in enumerate(
            zip(bright.messages, proposal.pruned.chat, strict=True)
        )
        if one != other or one.dropped != other.dropped
    ]
    assert first in changed
    context.policy = "ask"


def screen_of(client: SplitClient, *lines: str, interactive: bool = False) -> RecordingScreen:
    screen = RecordingScreen(interactive)
    chat = client.conversation(temperature=0)
    chat.max_tokens = 16
    ChatLoop(client, chat, TypedReader(list(lines)), screen).run()
    return screen


def test_the_terminal_tells_places_and_lists_brightness(
    client: SplitClient, tmp_path: Path
) -> None:
    file = tmp_path / "told.json"
    said = screen_of(
        client,
        "/brightness",
        "/brightness some",
        "/attention",
        *TALK[:2],
        "/brightness",
        "/brightness 1",
        f"/brightness {file}",
        "/brightness 9",
        "/context dimmest",
        "/attention",
        "/brightness mean",
    )
    told = said.shown + said.noted
    for words in (
        "no reply has looked at the chat yet",
        "/brightness takes a message's number",
        "without drafts",
        "the reply looked at its own turn",
        "  1.1  What is split inference?",
        "   1  user ",
        "1.1   ",
        "only you can read it",
        "there is no message 9",
        "the sentences go that replies looked at least",
        "the mean over all layers",
    ):
        assert words in told, words
    assert json.loads(file.read_text("utf-8"))["mode"] == "last"


def test_a_terminal_with_colours_tints_the_chat(
    client: SplitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    screen = screen_of(client, "/attention", *TALK[:2], "/brightness", interactive=True)
    told = screen.shown + screen.noted
    assert "50: as it began" in told
    assert "\x1b[48;5;" in told


def test_a_server_without_attention_is_asked_again_without(
    client: SplitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_wire.client.held.CAPABILITY", "another")
    told = screen_of(client, "/attention", TALK[0])
    assert "does not tell attention; /attention is off" in told.noted
    assert len(told.shown.strip()) > 10
