from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from split_client.chat.context.fill import TokenCounter
from split_client.chat.context.room import ChatContext
from split_client.terminal.commands.files import Files
from split_client.terminal.commands.meter import Meter
from tests.split_client.chat.test_conversation import TOKENIZER, chat
from tests.split_client.terminal.consoles import RecordingScreen

LIMIT = 4096


class Counting:
    """The embedded model's tokenizer, and what it was given."""

    def __init__(self) -> None:
        self.texts = list[str]()

    def __call__(self, text: str) -> list[int]:
        self.texts.append(text)
        return TOKENIZER.encode(text)


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def meter(counting: Counting) -> Meter:
    conversation = chat()
    context = ChatContext(conversation, TokenCounter(counting), lambda: LIMIT, lambda _: (0, 0))
    session = SimpleNamespace(conversation=conversation, context=context)
    session.messages = conversation.messages
    return Meter(cast("Any", session), Files(RecordingScreen()))


def tokens(text: str) -> int:
    return len(TOKENIZER.encode(text))


def attach(meter: Meter, path: Path, text: str) -> str:
    """A file that waits, and how it goes with the message."""
    path.write_text(text)
    meter.files.attach(str(path))
    return meter.files.texts()[-1]


def test_files_that_wait_are_counted_with_what_is_typed(meter: Meter, tmp_path: Path) -> None:
    meter.refresh()
    assert meter.told("Read it:") == f"0 + {tokens('Read it:')} of 4,096"
    one, two = (attach(meter, tmp_path / name, f"{name}. Split inference.\n") for name in "ab")
    files = tokens(f"\n\n{one}\n\n{two}")
    assert meter.told("Read it:") == f"0 + {tokens('Read it:') + files} of 4,096"
    assert meter.told("//Read it:") == f"0 + {tokens('//Read it:') + files} of 4,096"
    # A command is no message, and the files wait all the same.
    assert meter.told("") == meter.told("/stats") == f"0 + {files} of 4,096"
    meter.files.attach("none")
    assert meter.told("") == ""


def test_files_are_counted_once_and_not_at_every_key(
    meter: Meter, counting: Counting, tmp_path: Path
) -> None:
    text = attach(meter, tmp_path / "long", "Split inference. " * 2000)
    for typed in ("a", "ab", "abc"):
        meter.told(typed)
    assert [each for each in counting.texts if text in each] == [f"\n\n{text}"]


def test_of_files_without_an_end_the_beginning_is_counted_and_said_to_be(
    meter: Meter, counting: Counting, tmp_path: Path
) -> None:
    attach(meter, tmp_path / "endless", "word " * 50_000)
    assert meter.told("Hm.").startswith("0 + ≥")
    assert max(map(len, counting.texts)) == 200_000
