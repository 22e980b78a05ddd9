"""The folder of saved chats: one file each, named after the chat."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from split_client.errors import ConversationFileInvalid
from split_client.owner_file import data_folder, make_folder, move_aside, reason, write_whole
from split_client.saved_chats.document import (
    SavedConversation,
    conversation_in,
    document_of,
    read_bounded,
    why_unreadable,
)
from split_client.saved_chats.errors import (
    ChatChanged,
    ChatExists,
    ChatNameInvalid,
    ChatsFolderFailed,
    ChatTooLong,
    ChatUnknown,
    NoChats,
)
from split_client.saved_chats.names import SUFFIX, checked_name, folded

# More files than that in one folder are not looked at.
MOST_CHATS = 10_000


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """``chats`` under ``SPLIT_DATA``, else under the platform's data folder of this user."""
    return data_folder(environ) / "chats"


@dataclass(frozen=True, slots=True)
class Kept:
    """A chat's file as it was last written or read; ``digest`` is that of its bytes."""

    name: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class ChatFile:
    """``changed``: when, in local time."""

    name: str
    path: Path
    changed: datetime
    size: int


class ChatFolder:
    """Chats by name; the folder is made when the first one is saved."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_folder()

    def save(self, name: str, saved: SavedConversation, kept: Kept | None = None) -> Kept:
        """Keep ``saved`` as ``name``; only the file that ``kept`` stands for is replaced.

        Raises ChatNameInvalid, ChatExists, ChatChanged, ChatTooLong, ChatsFolderFailed.
        """
        name = checked_name(name)
        if kept is not None and folded(kept.name) == folded(name):
            name, path = kept.name, self._path(kept.name)
            replace = path.exists()
            if replace and _digest(self._bytes(path)) != kept.digest:
                raise ChatChanged(name)
        else:
            path, replace = self._path(self._free(name)), False
        data = document_of(saved)
        if unreadable := why_unreadable(saved, data):
            raise ChatTooLong(name, unreadable)
        try:
            make_folder(self.path)
            write_whole(path, data, replace=replace)
        except FileExistsError:
            raise ChatExists(name) from None
        except OSError as error:
            raise ChatsFolderFailed(str(path), reason(error)) from error
        return Kept(name, _digest(data))

    def load(self, text: str) -> tuple[Kept, SavedConversation]:
        """The chat whose name is ``text``, or is the only one to begin with it.

        Raises ChatUnknown, ChatsFolderFailed, ConversationFileInvalid.
        """
        file = self.find(text)
        data = self._bytes(file.path)
        return Kept(file.name, _digest(data)), conversation_in(data, str(file.path))

    def find(self, text: str, *, whole: bool = False) -> ChatFile:
        """The same without reading it; ``whole``: only the whole name will do.

        Raises ChatUnknown, ChatsFolderFailed.
        """
        wanted = folded(" ".join(text.split()))
        files = self.files()
        for file in files:
            if folded(file.name) == wanted:
                return file
        matches = [file for file in files if wanted and folded(file.name).startswith(wanted)]
        if len(matches) != 1 or whole:
            raise ChatUnknown(text, () if whole else [file.name for file in matches])
        return matches[0]

    def newest(self) -> ChatFile:
        """The chat that was changed last. Raises NoChats, ChatsFolderFailed."""
        files = self.files()
        if not files:
            raise NoChats
        return files[0]

    def files(self) -> list[ChatFile]:
        """All chats, the one that was changed last first. Raises ChatsFolderFailed."""
        try:
            with os.scandir(self.path) as entries:
                found = [file for entry in entries if (file := _chat_file(entry))]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ChatsFolderFailed(str(self.path), reason(error)) from error
        found.sort(key=lambda file: (file.changed, file.name), reverse=True)
        return found[:MOST_CHATS]

    def rename(self, text: str, name: str) -> tuple[str, str]:
        """Give the chat ``text`` another name; the two whole names.

        Raises ChatUnknown, ChatNameInvalid, ChatExists, ChatsFolderFailed.
        """
        file, name = self.find(text), checked_name(name)
        if folded(name) != folded(file.name):
            self._free(name)
        try:
            move_aside(file.path, self._path(name))
        except FileExistsError:
            raise ChatExists(name) from None
        except OSError as error:
            raise ChatsFolderFailed(str(file.path), reason(error)) from error
        return file.name, name

    def delete(self, text: str) -> str:
        """Delete the chat with exactly this name (but for case); returns it.

        Raises ChatUnknown, ChatsFolderFailed.
        """
        file = self.find(text, whole=True)
        try:
            file.path.unlink()
        except OSError as error:
            raise ChatsFolderFailed(str(file.path), reason(error)) from error
        return file.name

    def _free(self, name: str) -> str:
        """``name``, which no chat has, whatever its case. Raises ChatExists."""
        for file in self.files():
            if folded(file.name) == folded(name):
                raise ChatExists(file.name)
        return name

    def _path(self, name: str) -> Path:
        return self.path / f"{name}{SUFFIX}"

    def _bytes(self, path: Path) -> bytes:
        try:
            return read_bounded(path)
        except ConversationFileInvalid as error:
            raise ChatsFolderFailed(str(path), str(error).partition(": ")[2]) from error


def _chat_file(entry: os.DirEntry[str]) -> ChatFile | None:
    """The chat of a file; None for anything else, also for one that just went away."""
    if not entry.name.endswith(SUFFIX):
        return None
    try:
        name = checked_name(entry.name.removesuffix(SUFFIX))
        if not entry.is_file():
            return None
        status = entry.stat()
    except (OSError, ChatNameInvalid):
        return None
    changed = datetime.fromtimestamp(status.st_mtime).astimezone()
    return ChatFile(name, Path(entry.path), changed, status.st_size)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
