"""Replies that go on or another way, in a terminal, with the real server and embedded model."""

from __future__ import annotations

from pathlib import Path

from split_client.api import ChatSession, SplitClient
from split_client.terminal.commands.line import Folders
from tests.end_to_end.terminal.commands import QUESTION, talk
from tests.split_client.terminal.output.markdown.streams import SGR

Chat = tuple[SplitClient, ChatSession]


def test_a_reply_that_was_cut_goes_on_and_is_shown_whole(chat: Chat, answer: str) -> None:
    chat[1].max_tokens = 9
    screen, _ = talk(chat, QUESTION, "/set max_tokens 400", "/continue", interactive=True)
    assert "cut at --max-tokens 9 · /continue goes on" in screen.noted
    assert chat[1].messages[-1].content == answer
    assert " ".join(answer.split()) in " ".join(SGR.sub("", screen.shown).split())


def test_in_a_pipe_a_reply_that_goes_on_is_written_whole(chat: Chat, answer: str) -> None:
    chat[1].max_tokens = 9
    screen, _ = talk(chat, QUESTION, "/set max_tokens 400", "/continue")
    assert screen.shown.endswith(f"\n{answer}\n")


def test_what_could_have_come_is_listed_and_chosen_and_the_chat_goes_back(chat: Chat) -> None:
    chat[1].max_tokens = 12
    lines = [QUESTION, "/tokens", "/tokens 3", "/tokens 2-4", "/at 3 2", "/branches", "/branches 1"]
    screen, _ = talk(chat, *lines)
    (branch,) = chat[1].branches.all
    assert "12 tokens; the most surprising ones:" in screen.noted
    assert screen.noted.count(" ← said") == 1
    assert "/at 3 and the number of one goes on from there" in screen.noted
    assert "1  2 messages:" in screen.noted
    assert "the chat is again: 2 messages:" in screen.noted
    said, other = chat[1].messages[-1].content, branch[-1].content
    assert said != other
    assert said[:5] == other[:5]


def test_an_alternative_may_be_named_by_its_text(chat: Chat) -> None:
    chat[1].max_tokens = 8
    talk(chat, QUESTION)
    text = chat[1].tokens[2].alternatives[1].text.strip()
    talk(chat, f'/at 3 "{text}"')
    assert chat[1].tokens[2].text.strip() == text


def test_a_changed_reply_goes_on_from_the_change(chat: Chat) -> None:
    chat[1].max_tokens = 8
    screen, reader = talk(chat, QUESTION, "/amend", "/amend The relay", "/continue")
    assert reader.drafts[2].startswith("/amend ")
    assert "the reply is changed; /continue goes on from there" in screen.noted
    assert chat[1].messages[-1].content.startswith("The relay")


def test_a_message_is_taken_out_and_what_cannot_be_said_has_its_words(chat: Chat) -> None:
    chat[1].max_tokens = 4
    screen, _ = talk(
        chat,
        "/continue",
        "/tokens",
        "/amend",
        QUESTION,
        "/tokens x",
        "/tokens 99",
        "/at 1",
        "/at 99 1",
        "/at 1 21",
        "/branches 7",
        "/branches x",
        "/remove 9",
        "/remove x",
        "/remove 2",
    )
    for words in (
        "nothing goes on: the chat does not end with a reply [nothing_to_continue]",
        "the tokens of the newest reply are not known",
        "/tokens takes a token's number",
        "the reply has 4 tokens",
        "/at takes a token's number and an alternative",
        "there are 20 alternatives and no 21 [branch_invalid]",
        "there is no branch 7",
        "/branches takes the number of one",
        "there is no message 9; there are 2 [message_not_removed]",
        "/remove is a whole number",
        "removed: assistant:",
    ):
        assert words in screen.noted, words
    assert [message.role for message in chat[1].messages] == ["user"]


def test_the_context_is_counted_left_out_restored_and_saved(chat: Chat, tmp_path: Path) -> None:
    chat[1].max_tokens = 6
    screen, _ = talk(
        chat,
        f"{QUESTION} Say it. In short.",
        "And the relay?",
        "/context",
        "/drop 1.2",
        "/context 1",
        "/pin 2",
        f"/save {tmp_path}/chat.json",
        "/new",
        f"/load {tmp_path}/chat.json",
        "/context",
        interactive=True,
    )
    message = chat[1].messages[0]
    assert message.content == f"{QUESTION} Say it. In short."
    assert message.left == f"{QUESTION} In short."
    assert chat[1].messages[1].pinned
    assert "left out: " in screen.noted
    assert "tokens of the chat again, about" in screen.noted
    assert "in part" in screen.noted
    assert "1.2   (left out) Say it." in SGR.sub("", screen.shown)
    assert "· context " in screen.noted
    talk(chat, "/restore")
    assert chat[1].messages[0].dropped == ()


def test_a_full_context_is_asked_about_and_nothing_is_left_out_where_nobody_answers(
    chat: Chat,
) -> None:
    chat[1].max_tokens = 6
    said = [f"{QUESTION} {number}. Tell me. At once." for number in range(8)]
    screen, _ = talk(chat, *said, "/context budget 150", "One more?")
    assert "[context_full]" in screen.noted
    assert not any(message.dropped for message in chat[1].messages)
    screen, _ = talk(chat, "/context oldest", "One more?")
    assert "of the chat left out" in screen.noted
    assert any(message.dropped for message in chat[1].messages)
    assert chat[1].context.fill().total <= 150
    screen, _ = talk(
        chat, "/context budget 64", "/context newest", "/drop x", "/drop 99", "/pin 1.1"
    )
    for words in ("/context takes", "/drop takes", "no message 99", "a whole message"):
        assert words in screen.noted, words


def test_the_meter_tells_what_is_being_typed(chat: Chat) -> None:
    from split_client.terminal.commands.files import Files
    from split_client.terminal.commands.meter import Meter
    from tests.split_client.terminal.consoles import RecordingScreen

    meter = Meter(chat[1], Files(RecordingScreen()))
    assert meter.told("") == ""
    assert meter.told("Hello there").startswith("0 + ")
    chat[1].max_tokens = 4
    chat[1].send(QUESTION).read()
    meter.refresh()
    total = chat[1].context.fill().total
    assert meter.told("/help") == f"{total:,} of 4,096"
    assert meter.told("x " * 30_000).startswith(f"{total:,} + ≥")


def test_a_context_smaller_than_the_system_message_has_its_words(chat: Chat) -> None:
    chat[1].max_tokens = 4
    long = "Be brief. " * 60
    screen, _ = talk(
        chat, f"/system {long}", "/context budget 100", "/context oldest", "Hi.", folders=Folders()
    )
    assert "shorten the system message" in screen.noted
    assert "[context_too_small]" in screen.noted
