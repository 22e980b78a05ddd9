"""Settings that only a chat has."""

from __future__ import annotations

from pathlib import Path

from split_client.config.reply import ReplyConfig
from split_settings import option, settings


@settings("client")
class ChatConfig(ReplyConfig):
    """Settings that only a chat has."""

    chats: Path | None = option(
        None,
        help="folder for saved chats (default: SPLIT_DATA, else the platform's data folder)",
        metavar="DIR",
        group="chat",
    )
    history: bool = option(
        True,
        help="keep what is typed, for the arrow keys of later chats, in a file of this user's",
        group="chat",
    )
    autosave: bool = option(False, help="save the chat after every reply", group="chat")
    context: str = option(
        "ask",
        help="what is left out when the context is full: ask, the oldest sentences, the "
        "dimmest (those that replies looked at least), or everything that is not pinned",
        choices=("ask", "oldest", "dimmest", "pinned"),
        group="chat",
    )
    context_budget: int | None = option(
        None,
        help="tokens of the chat that travel at most (default: as many as the model has)",
        minimum=64,
        maximum=1 << 31,
        group="chat",
    )
