"""Chats of many messages, as documents that the page imports."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import FilePayload, expect

from tests.web.chat_page import ChatPage

REPLY = """Reply {n}. The **server** computes the layers, and the device keeps the rest:

1. the tokenizer and the embedding of word{n},
2. the LM head and the sampler.

```python
for token in decode(prompt, seed={n}):
    print(token, end="", flush=True)
```

| part | where |
| --- | --- |
| ends | here |
| middle | server |
"""


def document(messages: int, **about: Any) -> dict[str, Any]:
    """A chat in which question and reply take turns; each reply has a list, code and a table."""
    said = [
        {"role": "assistant", "content": REPLY.format(n=n)}
        if n % 2
        else {"role": "user", "content": f"Question {n}: what happens to word{n}?"}
        for n in range(messages)
    ]
    return {"format": "gatelink.conversation", "version": 1, "messages": said, **about}


def imported(chat: ChatPage, content: Any, name: str = "chat.json") -> None:
    """Take in the chats of a file."""
    if chat.touch:
        chat.press("Saved chats")
    file: FilePayload = {
        "name": name,
        "mimeType": "application/json",
        "buffer": json.dumps(content).encode(),
    }
    chat.page.locator("input[type=file][accept]").set_input_files([file])
    expect(chat.page.get_by_text("Imported")).to_be_visible()
