"""Saved chats: one JSON document, written whole or not at all.

``{"format": "gatelink.conversation", "version": 1, "model": name, "messages": [{"role",
"content"}]}``, ``"served"``, the name by which a server of several models has the model,
``"manifest"``, the digest of its ends, ``"noise": true`` for one that was sent with noise, and
``"redaction"``, the map of one whose values went out as surrogates
(split_client/redaction/document.py). A reply may have ``tool_calls``, and a message of the role
``tool`` has ``tool_call_id``, as in OpenAI's API. Unknown keys are ignored, another format or
version is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from split_client.chat.message import Message
from split_client.chat.reading import message_in
from split_client.errors import ConversationFileInvalid
from split_client.owner_file import reason, write_whole
from split_client.redaction.document import RedactionDocument, document_in
from split_client.redaction.errors import RedactionError
from split_client.weights.fields import is_sha256
from split_files import DocumentInvalid, is_version, parse_document, read_regular
from split_wire.fields import is_name

FORMAT = "gatelink.conversation"
VERSION = 1
# Four times the bytes of the longest text that a chat template may make, and more messages than
# anybody writes: what is longer could be read, but never be answered.
MAX_BYTES = 16 << 20
MAX_MESSAGES = 20_000


@dataclass(frozen=True, slots=True)
class SavedConversation:
    """``model`` is the name of the model that answered; another one may continue.

    ``noised``: some of it was sent with noise, so its text is not to be told of in other ways;
    ``redaction``: its map, None where nothing of it ever went out as surrogates; ``served``: the
    model's name at its server, where it was asked for by that, ``manifest``: its ends' digest.
    """

    model: str
    messages: tuple[Message, ...]
    noised: bool = False
    redaction: RedactionDocument | None = None
    served: str | None = None
    manifest: str | None = None


def save_conversation(path: Path, saved: SavedConversation) -> None:
    """Write ``saved`` to ``path``, readable by its owner only; it replaces only saved chats.

    Raises ConversationFileInvalid.
    """
    _require_replaceable(path)
    data = document_of(saved)
    if unreadable := why_unreadable(saved, data):
        raise ConversationFileInvalid(str(path), unreadable)
    try:
        write_whole(path, data)
    except OSError as error:
        raise ConversationFileInvalid(str(path), reason(error)) from error


def document_of(saved: SavedConversation) -> bytes:
    """The bytes of a file that holds ``saved``."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "model": saved.model,
        **({} if saved.served is None else {"served": saved.served}),
        **({} if saved.manifest is None else {"manifest": saved.manifest}),
        **({"noise": True} if saved.noised else {}),
        "messages": [message.as_dict() for message in saved.messages],
        **({} if saved.redaction is None else {"redaction": saved.redaction.as_dict()}),
    }
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "replace")


def why_unreadable(saved: SavedConversation, data: bytes) -> str | None:
    """The reason for which the document ``data`` of ``saved`` could not be loaded again."""
    if len(saved.messages) > MAX_MESSAGES:
        return f"the chat has more than {MAX_MESSAGES} messages"
    return f"the chat takes more than {MAX_BYTES} bytes" if len(data) > MAX_BYTES else None


def load_conversation(path: Path) -> SavedConversation:
    """Read a saved chat. Raises ConversationFileInvalid."""
    return conversation_in(read_bounded(path), str(path))


def read_bounded(path: Path) -> bytes:
    """The bytes of a file that is not too large. Raises ConversationFileInvalid."""
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ConversationFileInvalid(str(path), reason(error)) from error


def conversation_in(data: bytes, path: str) -> SavedConversation:
    """The conversation in the bytes of the file ``path``. Raises ConversationFileInvalid."""
    try:
        return _read(parse_document(data), path)
    except DocumentInvalid as error:
        raise ConversationFileInvalid(path, str(error)) from error


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
    if not is_version(document.get("version"), VERSION):
        raise ConversationFileInvalid(
            path, f"its version is not {VERSION}; update split-client to read it"
        )
    model, messages = document.get("model"), document.get("messages")
    if not isinstance(messages, list):
        raise ConversationFileInvalid(path, "'messages' is not a list")
    if len(messages) > MAX_MESSAGES:
        raise ConversationFileInvalid(path, f"it has more than {MAX_MESSAGES} messages")
    read = tuple(_message(item, index, path) for index, item in enumerate(messages))
    noised = document.get("noise") is True
    redaction = _redaction(document.get("redaction"), path)
    # What is no name and no digest chooses nothing, and the chat is as good without.
    served, manifest = document.get("served"), document.get("manifest")
    return SavedConversation(
        model if isinstance(model, str) else "",
        read,
        noised,
        redaction,
        served if is_name(served) else None,
        manifest if is_sha256(manifest) else None,
    )


def _redaction(given: object, path: str) -> RedactionDocument | None:
    """A map that cannot be believed is refused: without it values would go out as they are."""
    try:
        return None if given is None else document_in(given)
    except RedactionError as error:
        raise ConversationFileInvalid(path, str(error)) from error


def _message(item: object, index: int, path: str) -> Message:
    message = message_in(item) if isinstance(item, dict) else "it is no object"
    if isinstance(message, str):
        raise ConversationFileInvalid(path, f"message {index}: {message}")
    if message.role == "system" and index > 0:
        raise ConversationFileInvalid(path, f"message {index} is a second system message")
    return message
