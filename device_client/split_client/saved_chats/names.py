"""Names of chats: what people type, as file names that are safe on every system."""

from __future__ import annotations

import unicodedata
from datetime import datetime

from split_client.saved_chats.errors import ChatNameInvalid

SUFFIX = ".json"
# Beside the suffix and that of a temporary file, within the 255 bytes of usual file systems.
_LONGEST_BYTES = 200
_FORBIDDEN = frozenset('/\\:*?"<>|')
# Device names of Windows, with any suffix.
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10))]
)
_WORDS_OF_TITLE, _LONGEST_TITLE = 6, 48


def checked_name(text: str) -> str:
    """``text`` as the name of a chat, its white space tidied. Raises ChatNameInvalid."""
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    problem = _problem(name)
    if problem:
        raise ChatNameInvalid(text, problem)
    return name


def is_path(text: str) -> bool:
    """Whether a person who types this means a file rather than a name."""
    return text.startswith(("~", ".")) or "/" in text or "\\" in text or text.endswith(SUFFIX)


def folded(text: str) -> str:
    """For comparing without regard to case; also what file systems that ignore it would do."""
    return unicodedata.normalize("NFC", text).casefold()


def title_of(message: str, now: datetime) -> str:
    """A name for a chat that begins with ``message``: the day and its first words."""
    words = "".join(c if _is_usable(c) else " " for c in message[:400]).split()
    title = " ".join(words[:_WORDS_OF_TITLE])[:_LONGEST_TITLE].rstrip(" .")
    return checked_name(f"{now:%Y-%m-%d} {title or 'chat'}")


def _problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name.encode("utf-8", "replace")) > _LONGEST_BYTES:
        return "it is too long"
    if name.startswith((".", "-", "@")) or name.endswith("."):
        return "it may not begin with a dot, '-' or '@', nor end with a dot"
    if name.partition(".")[0].strip().lower() in _RESERVED:
        return "some systems keep it for a device"
    if not all(map(_is_usable, name)):
        return 'it may have no control characters and none of / \\ : * ? " < > |'
    return None


def _is_usable(character: str) -> bool:
    return character.isprintable() and character not in _FORBIDDEN
