"""``--draft-file``: a text that the reply is thought to be, but for differences."""

from __future__ import annotations

from pathlib import Path

from split_client.owner_file import reason
from split_client.terminal.errors import DraftFileInvalid, InputNotText
from split_files import read_regular

MAX_BYTES = 1 << 20


def draft_text(path: Path) -> str:
    """The text of the file. Raises DraftFileInvalid, InputNotText."""
    try:
        data = read_regular(path, MAX_BYTES)
    except OSError as error:
        why = f"{reason(error)}; it is a text file of at most {MAX_BYTES >> 20} MB"
        raise DraftFileInvalid(str(path), why) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputNotText(str(path), error.start) from None
    if "\0" in text:
        raise InputNotText(str(path), data.index(0))
    if not text.strip():
        raise DraftFileInvalid(str(path), "it is empty; a draft file has text that is expected")
    return text
