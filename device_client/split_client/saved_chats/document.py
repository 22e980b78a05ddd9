"""Saved chats: one JSON document, written whole or not at all.

``{"format": "gatelink.conversation", "version": 1, "model": name, "messages": [{"role",
"content"}]}``. Unknown keys are ignored, another format or version is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from split_client.chat.conversation import Message
from split_client.errors import ConversationFileInvalid
from split_client.owner_file import reason, write_whole

FORMAT = "gatelink.conversation"
VERSION = 1
MAX_BYTES = 64 << 20
_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class SavedConversation:
    """``model`` is the name of the model that answered; another one may continue."""

    model: str
    messages: tuple[Message, ...]


def save_conversation(path: Path, saved: SavedConversation) -> None:
    """Write ``saved`` to ``path``, readable by its owner only; it replaces only saved chats.

    Raises ConversationFileInvalid.
    """
    _require_replaceable(path)
    try:
        write_whole(path, document_of(saved))
    except OSError as error:
        raise ConversationFileInvalid(str(path), reason(error)) from error


def document_of(saved: SavedConversation) -> bytes:
    """The bytes of a file that holds ``saved``."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "model": saved.model,
        "messages": [message.as_dict() for message in saved.messages],
    }
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "replace")


def load_conversation(path: Path) -> SavedConversation:
    """Read a saved chat. Raises ConversationFileInvalid."""
    return conversation_in(read_bounded(path), str(path))


def read_bounded(path: Path) -> bytes:
    """The bytes of a file that is not too large. Raises ConversationFileInvalid."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConversationFileInvalid(str(path), reason(error)) from error
    if len(data) > MAX_BYTES:
        raise ConversationFileInvalid(str(path), f"it is larger than {MAX_BYTES} bytes")
    return data


def conversation_in(data: bytes, path: str) -> SavedConversation:
    """The conversation in the bytes of the file ``path``. Raises ConversationFileInvalid."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConversationFileInvalid(path, "it is not JSON") from error
    return _read(document, path)


def _require_replaceable(path: Path) -> None:
    """A mistyped name must not cost somebody another file."""
    try:
        if not path.exists():
            return
        if path.is_file():
            load_conversation(path)
            return
    except OSError as error:
        raise ConversationFileInvalid(str(path), reason(error)) from error
    except ConversationFileInvalid:
        pass
    raise ConversationFileInvalid(
        str(path), "it exists and is not a saved chat; choose another name"
    )


def _read(document: object, path: str) -> SavedConversation:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ConversationFileInvalid(path, "it is not a saved chat; /save writes one")
    if document.get("version") != VERSION:
        raise ConversationFileInvalid(
            path, f"its version is not {VERSION}; update split-client to read it"
        )
    model, messages = document.get("model"), document.get("messages")
    if not isinstance(messages, list):
        raise ConversationFileInvalid(path, "'messages' is not a list")
    read = tuple(_message(item, index, path) for index, item in enumerate(messages))
    return SavedConversation(model if isinstance(model, str) else "", read)


def _message(item: object, index: int, path: str) -> Message:
    match item:
        case {"role": str(role), "content": str(content)} if role in _ROLES:
            if role == "system" and index > 0:
                raise ConversationFileInvalid(path, f"message {index} is a second system message")
            return Message(role, content)
    raise ConversationFileInvalid(
        path, f"message {index} has no 'role' ({', '.join(_ROLES)}) and 'content'"
    )
