"""The file of prompts that a server keeps warm for everybody: one JSON object a line."""

from __future__ import annotations

from pathlib import Path

from split_files import read_regular
from split_server.compat.openai.errors import OpenAIError
from split_server.compat.openai.fields import parse_body
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.warm_request import WarmRequest, parse_warm_request
from split_server.errors import ServerError

MAX_BYTES = 16 << 20
MAX_PROMPTS = 256
_KNOWN = frozenset({"prompt", "messages", "tools"})


class WarmFileInvalid(ServerError):
    """A file of prompts that cannot be read as one; never with what is in it."""

    code = "warm_file_invalid"

    def __init__(self, path: Path, line: int, reason: str) -> None:
        where = f"line {line} of {path}" if line else str(path)
        super().__init__(f"{where} is no prompt to keep warm: {reason}")


class NothingToWarm(ServerError):
    """Prompts to keep warm, and nothing to keep them with."""

    code = "nothing_to_warm"

    def __init__(self, reason: str) -> None:
        super().__init__(f"--kv-warm has no effect: {reason}")


def read_warm_file(path: Path, served: ServedModel) -> list[tuple[int, WarmRequest]]:
    """The prompts with the numbers of their lines. Raises WarmFileInvalid."""
    try:
        lines = read_regular(path, MAX_BYTES).splitlines()
    except OSError as error:
        raise WarmFileInvalid(path, 0, error.strerror or type(error).__name__) from None
    found = [
        (number, _parsed(path, number, line, served))
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not found or len(found) > MAX_PROMPTS:
        raise WarmFileInvalid(path, 0, f"{len(found)} prompts; 1 to {MAX_PROMPTS} are kept")
    return found


def _parsed(path: Path, number: int, line: bytes, served: ServedModel) -> WarmRequest:
    try:
        fields = parse_body(line)
        unknown = fields.names() - _KNOWN
        if unknown:
            raise WarmFileInvalid(path, number, f"fields beside {', '.join(sorted(_KNOWN))}")
        return parse_warm_request(fields, served)
    except OpenAIError as error:
        raise WarmFileInvalid(path, number, str(error)) from None
