"""``/hide`` and ``/show`` against the real server with the embedded model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import ChatSession, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.tools.call import ToolCall
from tests.end_to_end.terminal.commands import QUESTION, talk
from tests.server_process import running_server

NUMBERS = "\n".join(f"row {number} of the list is {number * number}" for number in range(40))


@pytest.fixture(scope="module")
def client(cache: Path) -> Iterator[SplitClient]:
    with (
        running_server(kv_approximate="on") as server,
        SplitClient(server.url, cache=cache) as client,
    ):
        yield client


@pytest.fixture
def chat(client: SplitClient) -> tuple[SplitClient, ChatSession]:
    session = client.conversation("You know about split inference.", max_tokens=12)
    session.params = SamplingParams()
    return client, session


def test_positions_are_hidden_the_status_line_says_so_and_all_is_shown_again(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, _ = talk(
        chat, QUESTION, QUESTION, "/hide 12-20", QUESTION, "/show", QUESTION, interactive=True
    )
    told = screen.noted
    assert "9 positions hidden, 9 of" in told
    assert "replies from here on are approximate" in told
    assert "· 9 hidden ·" in told
    assert "9 positions more that replies see" in told
    assert "hidden" not in told.rpartition("positions more")[2]


def test_alone_it_says_where_messages_lie(chat: tuple[SplitClient, ChatSession]) -> None:
    screen, _ = talk(chat, QUESTION, "/hide")
    told = screen.noted
    assert f"user: {QUESTION}" in told
    assert "0 of" in told
    assert "/hide takes positions (12-80)" in told


def test_recent_positions_are_kept_and_the_system_message_with_them(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    talk(chat, QUESTION, QUESTION, "/hide keep-recent 30")
    visible = chat[1].visible
    system = visible.parts()[0]
    [span] = visible.hidden
    assert span[0] >= system.end
    assert span[1] <= visible.length - 29


def test_each_message_chooses_what_its_reply_sees_until_all_is_shown(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, _ = talk(chat, "/hide attention 60%", *[QUESTION] * 4, interactive=True)
    hidden = chat[1].visible.hidden
    assert "from your next message on, replies see about 60%" in screen.noted
    # There was nothing before the first one.
    assert screen.noted.count("that your message attends to least are hidden") == 3
    assert hidden
    [*_, last] = (part for part in chat[1].visible.parts() if part.role == "user")
    assert hidden[-1][1] < last.start
    screen, _ = talk(chat, "/show", QUESTION)
    assert chat[1].visible.hidden == ()
    assert "least" not in screen.noted


def test_it_is_chosen_anew_for_each_message(chat: tuple[SplitClient, ChatSession]) -> None:
    chat[1].send(QUESTION).read()
    chosen = []
    for question in ("Who picks the token?", "What does the server hold?"):
        assert chat[1].ask_seeing(question, 0.5) > 0
        assert chat[1].messages[-1].content == question
        chat[1].answer().read()
        chosen.append(chat[1].visible.hidden)
    assert chosen[0] != chosen[1]


def test_dead_turns_are_known_once_attention_was_watched(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, _ = talk(chat, QUESTION, "/hide dead")
    assert "/attention" in screen.noted


def test_results_of_tools_are_hidden_by_the_question_and_shown_when_one_asks_for_them(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    session = chat[1]
    conversation = session.conversation
    conversation.say("What is in row 3?")
    call = ToolCall("call_1", "rows", "{}")
    prompt = conversation.prompt()
    ids = session._maker.ends.tokenizer.encode("I look it up.")
    conversation.reply(prompt, "I look it up.", ids, [call])
    conversation.result(call, NUMBERS)
    session.answer().read()
    screen, _ = talk(chat, "/hide tools")
    assert "positions hidden" in screen.noted
    hidden = session.visible.hidden
    result = next(part for part in session.visible.parts() if part.role == "tool")
    assert all(result.start + 32 <= start and end <= result.end - 32 for start, end in hidden)


@pytest.mark.parametrize(
    "line", ["/hide nonsense", "/hide 20-12", "/hide keep-recent x", "/hide attention 200%"]
)
def test_what_is_no_policy_is_refused_with_what_there_is(
    chat: tuple[SplitClient, ChatSession], line: str
) -> None:
    screen, _ = talk(chat, QUESTION, line)
    assert "/hide" in screen.noted
    assert chat[1].visible.hidden == ()


def test_before_the_first_reply_there_is_nothing_to_hide(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, _ = talk(chat, "/hide tools", "/hide", "/show")
    assert "say something first" in screen.noted
