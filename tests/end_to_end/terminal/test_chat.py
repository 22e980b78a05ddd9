"""A chat in a terminal with the real server and the embedded model."""

from __future__ import annotations

import os
import signal

import pytest

from split_client.api import ChatSession, Choice, SplitClient
from split_client.errors import ServerRefused
from tests.end_to_end.terminal.commands import QUESTION, spawn, talk
from tests.server_process import RunningServer
from tests.split_client.terminal.output.markdown.streams import SGR


def test_a_chat_in_a_pipe_answers_line_by_line(server: RunningServer, answer: str) -> None:
    process = spawn("chat", "--url", server.url, "--temperature", "0")
    out, err = process.communicate(f"{QUESTION}\n/retry\n/nope\n/quit\nnever\n", timeout=60)
    assert (process.returncode, out) == (0, f"{answer}\n{answer}\n")
    assert err == "error: there is no /nope; see /help [setting_invalid]\n"


def test_two_slashes_send_a_message_that_begins_with_one(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    chat[1].max_tokens = 2
    talk(chat, "//etc is a folder")
    assert chat[1].messages[0].content == "/etc is a folder"


def test_a_device_whose_token_is_taken_back_in_a_chat_is_told_to_pair_again(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ServerRefused("unauthorized", "a valid token is needed")

    monkeypatch.setattr(chat[1], "send", refuse)
    screen, _ = talk(chat, QUESTION)
    assert "/save NAME keeps this chat, then pair again: split-server pair there" in screen.noted
    assert screen.noted.endswith("[unauthorized]\n")


@pytest.mark.parametrize("columns", [40, 80])
def test_lists_and_panels_fit_the_terminal(
    chat: tuple[SplitClient, ChatSession], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    chat[1].max_tokens = 8
    lines = ["/help", "/server", "/presets", QUESTION, "/save A chat", "/chats", "/set", "/load A"]
    screen, _ = talk(chat, *lines, interactive=True)
    shown = SGR.sub("", screen.shown)
    assert "error" not in screen.noted
    assert all(len(line) < columns for line in shown.split("\n"))
    assert "What the server can learn" in shown
    assert f"> {QUESTION}" in shown


def test_the_panel_counts_what_travelled(chat: tuple[SplitClient, ChatSession]) -> None:
    client, session = chat
    session.drafts = "off"
    screen, _ = talk(chat, QUESTION, "/server", "/panel")
    answered = session.answered
    assert answered is not None
    sent = len(answered.ids) - 1
    assert screen.shown.count(f"{sent} embedding rows of {client.manifest.hidden_size}") == 2
    assert f"holds {session.cached_tokens} positions" in screen.shown


def test_a_mistyped_command_is_guessed(chat: tuple[SplitClient, ChatSession]) -> None:
    screen, _ = talk(chat, "/chast", "/zzz")
    assert "did you mean /chats?" in screen.noted
    assert "there is no /zzz; see /help" in screen.noted


def test_settings_are_shown_and_changed(chat: tuple[SplitClient, ChatSession]) -> None:
    screen, _ = talk(
        chat, "/set", "/set temperature 0.5", "/set max-tokens 4", "/set stop END", "/set seed 3"
    )
    session = chat[1]
    assert session.params is not None
    assert (session.params.temperature, session.params.seed) == (0.5, 3)
    assert (session.max_tokens, session.stop) == (4, ("END",))
    assert "temperature 0.5 · top_p 1" in screen.noted


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("/unknown", "setting_invalid"),
        ("/set temperature", "setting_invalid"),
        ("/set temperature warm", "setting_invalid"),
        ("/set temperature -1", "invalid_sampling_parameter"),
        ("/set nothing 1", "setting_invalid"),
        ("/set max_tokens 0", "setting_invalid"),
        ("/set max_tokens 99999999", "setting_invalid"),
        ("/save", "setting_invalid"),
        ("/save a/../b\x00", "setting_invalid"),
        ("/load ./\ud800.json", "setting_invalid"),
        ("/save CON", "chat_name_invalid"),
        ("/load", "setting_invalid"),
        ("/load nobody", "chat_unknown"),
        ("/rename x", "setting_invalid"),
        ("/delete", "setting_invalid"),
        ("/set markdown maybe", "setting_invalid"),
        ("/set theme pink", "setting_invalid"),
        ("/preset", "setting_invalid"),
        ("/server now", "setting_invalid"),
        ("/load /nowhere/chat.json", "conversation_file_invalid"),
    ],
)
def test_a_wrong_command_is_one_line_and_the_chat_goes_on(
    chat: tuple[SplitClient, ChatSession], beginning: str, line: str, code: str
) -> None:
    chat[1].max_tokens = 4
    screen, _ = talk(chat, line, QUESTION)
    assert screen.noted.startswith("error: ")
    assert f"[{code}]\n" in screen.noted
    assert screen.shown == beginning + "\n"


def test_ctrl_c_at_the_prompt_leaves_only_the_second_time(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, reader = talk(chat, KeyboardInterrupt, "/set", KeyboardInterrupt, KeyboardInterrupt)
    assert screen.noted.count("Ctrl-C again") == 2
    assert len(reader.drafts) == 4


def test_ctrl_c_stops_a_reply_and_keeps_the_chat(server: RunningServer, answer: str) -> None:
    process = spawn("chat", "--url", server.url, "--temperature", "0")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(QUESTION + "\n")
    process.stdin.flush()
    # Past the buffers of the pipe's file object, which communicate() does not look into.
    beginning = os.read(process.stdout.fileno(), 8).decode()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate("/retry\n", timeout=60)
    assert (process.returncode, err) == (0, "")
    stopped, again = (beginning + out).splitlines()
    assert answer.startswith(stopped)
    assert again == answer


def test_cancelling_ends_a_reply_after_the_token_at_hand(
    chat: tuple[SplitClient, ChatSession], answer: str
) -> None:
    client, session = chat
    reply = session.send(QUESTION)
    for count, _ in enumerate(reply.events()):
        if count == 4:
            client.cancel()
    assert (reply.finish_reason, len(reply.token_ids)) == ("cancelled", 5)
    assert answer.startswith(reply.text)
    assert session.messages[-1].content == reply.text


def test_cancelling_while_a_prompt_is_made_ends_its_reply(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, session = chat
    make = session.conversation.prompt
    monkeypatch.setattr(session.conversation, "prompt", lambda: (client.cancel(), make())[1])
    reply = session.send(QUESTION)
    assert (reply.read(), reply.finish_reason) == ("", "cancelled")


def test_cancelling_while_a_form_is_compiled_ends_its_reply(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = chat
    compiled = client.ends.forms.constraint
    monkeypatch.setattr(
        client.ends.forms, "constraint", lambda form: (client.cancel(), compiled(form))[1]
    )
    reply = client.generate("It is ", form=Choice(("one", "two")))
    assert (reply.read(), reply.finish_reason) == ("", "cancelled")
    monkeypatch.undo()
    assert client.generate("It is ", form=Choice(("one", "two"))).read() in ("one", "two")
