"""The prompts that a check is made with: a file of one JSON object a line, as ``--kv-warm``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from split_files import DocumentInvalid, parse_document, read_regular
from split_server.errors import ServerError

# What the server takes of one request.
MAX_PROMPTS = 8
MAX_BYTES = 16 << 20
_EITHER = ("prompt", "messages")


class PromptsFileInvalid(ServerError):
    """A file of prompts that cannot be read as one; never with what is in it."""

    code = "prompts_file_invalid"

    def __init__(self, path: Path, line: int, reason: str) -> None:
        where = f"line {line} of {path}" if line else str(path)
        super().__init__(f"{where} is no prompt to check with: {reason}")


def read_prompts(path: Path) -> list[dict[str, Any]]:
    """The objects of its lines; blank ones are passed over. Raises PromptsFileInvalid."""
    try:
        lines = read_regular(path, MAX_BYTES).splitlines()
    except OSError as error:
        raise PromptsFileInvalid(path, 0, error.strerror or type(error).__name__) from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not 1 <= len(numbered) <= MAX_PROMPTS:
        raise PromptsFileInvalid(path, 0, f"{len(numbered)} prompts; 1 to {MAX_PROMPTS} are run")
    return [_parsed(path, number, line) for number, line in numbered]


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = parse_document(line)
    except DocumentInvalid as error:
        raise PromptsFileInvalid(path, number, str(error)) from None
    if not isinstance(value, dict):
        raise PromptsFileInvalid(path, number, "a JSON object is wanted")
    if {*value} - {*_EITHER, "tools"} or sum(name in value for name in _EITHER) != 1:
        raise PromptsFileInvalid(path, number, "give prompt, or messages (and tools), no more")
    return value
