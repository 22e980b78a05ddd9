from __future__ import annotations

import io

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from split_client.terminal.input.prompt import new_session
from split_client.terminal.input.reader import PipeReader, PromptReader


def test_a_pipe_has_one_message_per_line() -> None:
    reader = PipeReader(io.StringIO("one\ntwo\\\nthree\r\n\nlast\\"))
    assert [reader.read() for _ in range(5)] == ["one", "two\nthree", "", "last", None]


def test_a_block_in_a_pipe_is_one_message_with_its_quotes() -> None:
    text = '"""\none\\\n\n/two"""\n"""three"""\nfour """\n"""open\nto the end'
    reader = PipeReader(io.StringIO(text))
    messages = ['"""\none\\\n\n/two"""', '"""three"""', 'four """', '"""open\nto the end', None]
    assert [reader.read() for _ in range(5)] == messages


def typed(keys: str, draft: str = "") -> str | None:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys)
        return PromptReader().read(draft)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("hello\r", "hello"),
        ("one\\\rtwo\r", "one\ntwo"),
        ("one\x1b\rtwo\r", "one\ntwo"),
        ('"""\rone\r\rtwo\r"""\r', '"""\none\n\ntwo\n"""'),
        ('"""one"""\r', '"""one"""'),
        ("\x04", None),
    ],
)
def test_enter_sends_and_alt_enter_or_a_backslash_begins_a_line(
    keys: str, message: str | None
) -> None:
    assert typed(keys) == message


def test_a_draft_is_there_to_be_edited() -> None:
    assert typed("\x7f!\r", "hello") == "hell!"


def test_ctrl_c_is_told_from_the_end() -> None:
    with pytest.raises(KeyboardInterrupt):
        typed("abc\x03")


@pytest.mark.parametrize(("text", "below"), [("hello", False), ("x " * 40, True)])
def test_the_meter_is_at_the_right_and_below_where_there_is_no_room(text: str, below: bool) -> None:
    asked: list[str] = []

    def meter(draft: str) -> str:
        asked.append(draft)
        return "1 of 2"

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        session = new_session(lambda: "> ", "… ", lambda _: (), None, meter)
        pipe.send_text(f"{text}\r")
        assert session.prompt() == text
    # What stands below is not drawn any more once a line is sent.
    assert asked[-1] == ("" if below else text)
    assert (session.bottom_toolbar is not None, session.rprompt is not None) == (below, not below)


def test_tab_makes_whole_commands_of_their_beginning() -> None:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        reader = PromptReader()
        reader.offer = lambda line: ["/chats"] if line == "/ch" else []
        pipe.send_text("/ch\t rome\r")
        assert reader.read() == "/chats rome"
        pipe.send_text("ch\tx\r")
        assert reader.read() == "chx"
