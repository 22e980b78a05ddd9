"""Looking into saved chats: their first lines, and the words that they hold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from split_client.errors import ConversationFileInvalid
from split_client.saved_chats.document import SavedConversation, load_conversation
from split_client.saved_chats.folder import ChatFile, ChatFolder
from split_client.saved_chats.names import folded

# One look reads no more than that; what is left out is said.
MOST_BYTES = 256 << 20
_BEFORE, _AFTER = 16, 60


@dataclass(frozen=True, slots=True)
class Found:
    """``line``: how it begins, or the words that were searched for with what stands around them.

    ``role`` is who wrote the line, None where the name alone has the words or nothing was said.
    """

    file: ChatFile
    messages: int
    role: str | None
    line: str


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file that is no saved chat, and why."""

    file: ChatFile
    reason: str


@dataclass(slots=True)
class Look:
    """Chats in order; ``left_out`` is known at the end: files that were too many to read."""

    found: list[Found]
    damaged: list[Damaged]
    left_out: int


def look(folder: ChatFolder, words: Sequence[str], most: int) -> Look:
    """The chats with all ``words``, in name or text, without regard to case; newest first.

    At most ``most`` are returned, and damaged files are told apart. Raises ChatsFolderFailed.
    """
    wanted = [folded(word) for word in words]
    files, seen = folder.files(), Look([], [], 0)
    budget = MOST_BYTES
    for index, file in enumerate(files):
        budget -= file.size
        if budget < 0 or len(seen.found) >= most:
            seen.left_out = len(files) - index
            break
        try:
            saved = load_conversation(file.path)
        except ConversationFileInvalid as error:
            seen.damaged.append(Damaged(file, str(error).removeprefix(f"{file.path}: ")))
            continue
        found = _found(file, saved, wanted)
        if found is not None:
            seen.found.append(found)
    return seen


def _found(file: ChatFile, saved: SavedConversation, words: Sequence[str]) -> Found | None:
    count = len(saved.messages)
    if not words:
        return Found(file, count, *_first_line(saved))
    name = folded(file.name)
    texts = [folded(message.content) for message in saved.messages]
    if not all(word in name or any(word in text for text in texts) for word in words):
        return None
    phrase = " ".join(words)
    for sought in dict.fromkeys((phrase, *words)):
        for message, text in zip(saved.messages, texts, strict=True):
            if sought in text:
                return Found(file, count, message.role, context(message.content, sought))
    return Found(file, count, *_first_line(saved))


def _first_line(saved: SavedConversation) -> tuple[str | None, str]:
    """The first speaker and the first line; the system's only where nobody else spoke."""
    spoken = [message for message in saved.messages if message.role != "system"]
    for message in spoken or saved.messages:
        for line in message.content.splitlines():
            if line.strip():
                return message.role, line.strip()
    return None, ""


def context(content: str, sought: str) -> str:
    """The place of ``sought`` (folded) in ``content``, on one line with what stands around it."""
    at, end = _place(content, sought)
    start, stop = max(0, at - _BEFORE), end + _AFTER
    text = " ".join(content[start:stop].split())
    return f"{'…' if start else ''}{text}{'…' if stop < len(content) else ''}"


def _place(content: str, sought: str) -> tuple[int, int]:
    """The place of ``sought`` in the text as it was written: a letter may fold to several."""
    letters = [folded(character) for character in content]
    ends = list(accumulate(map(len, letters)))
    at = "".join(letters).find(sought)
    if at < 0:
        return 0, 0
    first = bisect_right(ends, at)
    return first, bisect_right(ends, at + len(sought) - 1) + 1
