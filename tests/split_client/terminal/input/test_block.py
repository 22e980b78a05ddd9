from __future__ import annotations

import pytest

from split_client.terminal.input.block import block, is_open


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"""\none\ntwo\n"""', "one\ntwo"),
        ('"""one"""', "one"),
        ('  """\n  indented\n\n"""  ', "  indented\n"),
        ('"""/no command"""', "/no command"),
        ('""""quoted" """', '"quoted" '),
        ('""""""', ""),
    ],
)
def test_a_block_is_what_stands_between_its_quotes(text: str, message: str) -> None:
    assert not is_open(text)
    assert block(text) == message


@pytest.mark.parametrize("text", ['"""', '"""one', '"""\none "" ', '""""', '"""""'])
def test_a_block_that_is_not_ended_is_open(text: str) -> None:
    assert is_open(text)


@pytest.mark.parametrize("text", ["one", 'say """', '""', ""])
def test_other_text_is_no_block(text: str) -> None:
    assert not is_open(text)
    assert block(text) is None
