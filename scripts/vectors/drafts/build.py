"""What sources guess, and how long a guess is worth its rows."""

from typing import Any

from scripts.vectors.drafts import chats, lengths, sources


def build() -> dict[str, Any]:
    """All of drafts.json."""
    return {
        "format": 1,
        "sources": sources.build(),
        "lengths": lengths.build(),
        "chats": chats.build(),
    }
