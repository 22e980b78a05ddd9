"""What a real server is sent by a real page: nothing planted is in it, by look-up in the table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from split_server.checkpoint.folder import EMBEDDED
from split_server.sessions.framed import Answer
from split_wire.codec import decode_client_message
from split_wire.messages import Step
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.page.test_redaction import SWITCH, closed, going_out
from tests.web.redaction.planted import SPELLINGS, numbers, squeezed

_LIMIT = 1 << 26
NAME, FAMILY = "Katharina", "Oberländer-Fuchs"
# Values of a message, of each kind in each spelling as many: 5,040 in all where it is exhaustive.
VALUES = 60 if EXHAUSTIVE else 30
CHATS = 84 if EXHAUSTIVE else 1


@dataclass
class Rows:
    """What was sent, as the texts that the rows of each step are in the table of the model."""

    table: NDArray[np.float32]
    tokenizer: Tokenizer
    texts: list[str] = field(default_factory=list)

    def take(self, frame: bytes) -> None:
        message = decode_client_message(frame, _LIMIT)
        if isinstance(message, Step):
            rows = message.embeddings.to_f32()
            # The nearest row: what travels is the table's, rounded.
            far = (self.table**2).sum(1)[None] - 2 * rows @ self.table.T
            self.texts.append(self.tokenizer.decode(far.argmin(1).tolist()))


@pytest.fixture
def rows(server: RunningServer) -> Iterator[Rows]:
    weights = load_file(EMBEDDED / "model.safetensors")
    table: Any = weights["model.embed_tokens.weight"]
    seen = Rows(table.astype(np.float32), Tokenizer.from_file(str(EMBEDDED / "tokenizer.json")))
    service = server.parts.framed
    handle = service.handle

    async def told(principal: str, frame: bytes) -> Answer:
        seen.take(bytes(frame))
        return await handle(principal, frame)

    service.handle = told  # type: ignore[method-assign]
    yield seen
    service.handle = handle  # type: ignore[method-assign]


def _message(drawn: list[tuple[str, str]]) -> str:
    spelled = [
        spell(text) for (_, text), spell in zip(drawn, cycle(SPELLINGS.values()), strict=False)
    ]
    return f"Dear {NAME} {FAMILY}, note these:\n\n" + "\n\n".join(spelled)


@pytest.mark.slow
def test_no_planted_value_is_in_what_a_server_is_sent(chat: ChatPage, rows: Rows) -> None:
    page = chat.page
    chat.set_number("Longest reply", "24")
    chat.press("Settings")
    page.get_by_label(SWITCH).check()
    page.get_by_label("Names of your own").fill(f"{NAME} {FAMILY}")
    closed(chat)
    source = numbers(random.Random(7))  # noqa: S311
    for _ in range(CHATS):
        drawn = [*islice(source, VALUES)]
        rows.texts.clear()
        page.get_by_role("textbox", name="Message").fill(_message(drawn))
        expect(going_out(page).locator("strong")).not_to_have_count(0)
        chat.press("Send")
        chat.whole_reply(0)
        chat.write(f"And once more: {drawn[0][1]}, {drawn[4][1]}, {drawn[8][1]}, {FAMILY.upper()}")
        chat.whole_reply(1)
        chat.press("Another reply", page.get_by_role("article", name="Reply").nth(1))
        chat.press("The same again")
        expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
        chat.whole_reply(1)
        sent = squeezed("".join(rows.texts))
        assert len(sent) > 600
        assert [text for secret, text in drawn if secret in sent] == []
        assert NAME.upper() not in sent
        assert squeezed(FAMILY) not in sent
        chat.press("New chat")


def test_the_same_message_is_found_whole_without_redaction(chat: ChatPage, rows: Rows) -> None:
    """So that what looks for planted values would find them."""
    chat.set_number("Longest reply", "4")
    secret, text = next(numbers(random.Random(7)))  # noqa: S311
    chat.write(f"Dear {NAME}, {text}")
    chat.whole_reply(0)
    sent = squeezed("".join(rows.texts))
    assert secret in sent
    assert NAME.upper() in sent
