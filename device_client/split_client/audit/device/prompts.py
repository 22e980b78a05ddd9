"""Prompts with planted secrets, and questions with known answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from split_client.audit.errors import PromptsInvalid

_MOST = 10_000
_LONGEST = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message of a user; ``sensitive``: the parts of it that must not get out."""

    text: str
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is not in the training text in this wording, with its one right answer."""

    question: str
    answer: str


def built_in_prompts() -> tuple[Prompt, ...]:
    """Forty short messages with names, numbers, accounts, addresses and health in them."""
    return _parsed(_data("prompts.json"), "prompts.json")


def built_in_questions() -> tuple[Question, ...]:
    """Questions of the embedded model's own evaluation; their file names their source."""
    document = json.loads(_data("questions.json"))
    return tuple(Question(one["question"], one["answer"]) for one in document["questions"])


def built_in_tasks() -> tuple[str, ...]:
    """Requests of everyday kinds, for models of general knowledge."""
    return tuple(json.loads(_data("tasks.json")))


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """Prompts of one's own. Raises PromptsInvalid."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptsInvalid(str(path), "it cannot be read") from error
    return _parsed(text, str(path))


def _data(name: str) -> str:
    return files("split_client.audit.device").joinpath("data", name).read_text("utf-8")


def _parsed(text: str, path: str) -> tuple[Prompt, ...]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PromptsInvalid(path, "it is not JSON") from error
    if not isinstance(given, list) or not 2 <= len(given) <= _MOST:
        raise PromptsInvalid(path, f"it must hold a list of 2 to {_MOST} prompts")
    return tuple(_prompt(index, one, path) for index, one in enumerate(given))


def _prompt(index: int, given: object, path: str) -> Prompt:
    match given:
        case {"text": str(text), "sensitive": list(parts)} if text.strip():
            sensitive = tuple(part for part in parts if isinstance(part, str) and part in text)
            if len(sensitive) == len(parts) and all(sensitive) and len(text) <= _LONGEST:
                return Prompt(text, sensitive)
    raise PromptsInvalid(path, f"prompt {index} has not that form")
