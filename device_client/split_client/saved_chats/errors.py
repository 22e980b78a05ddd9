"""Errors of chats that are kept by name::

ClientError
└── SavedChatError
    ├── ChatNameInvalid
    ├── ChatUnknown, NoChats
    ├── ChatExists, ChatChanged, ChatTooLong, ChatEmpty
    └── ChatsFolderFailed
"""

from __future__ import annotations

from collections.abc import Sequence

from split_client.errors import ClientError

_NAMED = 5


class SavedChatError(ClientError):
    """Base of the tree."""

    code = "saved_chat_error"


class ChatNameInvalid(SavedChatError):
    """A name that no file may have on every system."""

    code = "chat_name_invalid"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name[:60]!r} cannot be the name of a chat: {reason}")


class ChatUnknown(SavedChatError):
    """No saved chat, or more than one, has a name that begins so."""

    code = "chat_unknown"

    def __init__(self, name: str, matches: Sequence[str] = ()) -> None:
        if matches:
            more = f" and {len(matches) - _NAMED} more" if len(matches) > _NAMED else ""
            listed = ", ".join(map(repr, matches[:_NAMED]))
            text = f"{name!r} is the beginning of {listed}{more}; write more of the name"
        else:
            text = f"there is no saved chat {name!r}; /chats lists them"
        super().__init__(text)


class NoChats(SavedChatError):
    """Nothing was saved yet that could go on."""

    code = "no_chats"

    def __init__(self) -> None:
        super().__init__("there is no saved chat to go on with; /save NAME or --autosave keeps one")


class ChatExists(SavedChatError):
    """Another chat has this name, and it is not lost for a new one."""

    code = "chat_exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is another chat {name!r} already; choose another name, "
            f"or take that one away first with /delete {name}"
        )


class ChatChanged(SavedChatError):
    """The file is not what this chat wrote or read; another program changed it."""

    code = "chat_changed"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the saved chat {name!r} was changed elsewhere since; save this one "
            "under another name, so that neither is lost"
        )


class ChatEmpty(SavedChatError):
    """Nobody has said anything, so that saving would only lose what was saved before."""

    code = "chat_empty"

    def __init__(self, kept: str | None) -> None:
        stays = "" if kept is None else f"; {kept!r} stays as it was, and /load brings it back"
        super().__init__(f"there is nothing to save: the chat is empty{stays}")


class ChatTooLong(SavedChatError):
    """More than a saved chat may hold, so that it could not be loaded again."""

    code = "chat_too_long"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name!r} is not saved: {why}; go on in a new one (/new)")


class ChatsFolderFailed(SavedChatError):
    """The folder of the chats, or a file in it, cannot be read or written."""

    code = "chats_folder_failed"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot use {path}: {why}; set --chats to another folder")
