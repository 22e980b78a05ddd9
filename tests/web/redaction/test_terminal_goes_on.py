"""The terminal goes on with a chat of the page: with its map, and the tokens that were sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.generation_peers import ask

document = pytest.importorskip("split_client.saved_chats.document")
redacting = pytest.importorskip("split_client.chat.redacting.redaction")

SAID = (
    "Dear Anna Schmidt, Dr. Zacharias Quuxley (030 90123456) pays DE89 3704 0044 0532 0130 00 "
    "with 4111-1111-1111-1111; write to a.schmidt@firma.de or Goethestraße 12, 10115 Berlin."
)


def test_a_chat_that_the_page_exports_goes_out_from_the_terminal_as_from_the_page(
    tmp_path: Path,
) -> None:
    request = {"said": SAID, "regions": ["DE"], "names": ["Zacharias Quuxley"]}
    answer = ask("chats/redacted.js", request)
    path = tmp_path / "chat.json"
    path.write_text(answer["document"], "utf-8")
    saved = document.load_conversation(path)
    chat = redacting.ChatRedaction(lambda _: 0)
    chat.load(saved.redaction)
    given = chat.given(saved.messages)
    assert [message.content for message in saved.messages] == [SAID, f"You said: {SAID}"]
    assert [message.content for message in given] == [
        answer["sent"],
        f"You said: {answer['sent']}",
    ]
    assert chat.undone(given[1].content) == saved.messages[1].content
