"""A tool that a model may call: its name, what it does, its arguments, and what runs it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeAlias

from split_client.grammar.keywords import MOST_BYTES
from split_client.grammar.schema import depth
from split_client.harmless import sanitise
from split_client.tools.errors import ToolChoiceInvalid, ToolsInvalid
from split_client.tools.parsing import MAX_DEPTH
from split_client.tools.signature import described

MAX_TOOLS: Final = 128
MAX_DESCRIPTION: Final = 4096
NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
CHOICES: Final = ("auto", "required", "none")

Run: TypeAlias = Callable[[dict[str, Any]], object]


@dataclass(frozen=True, slots=True)
class Tool:
    """``parameters``: the JSON schema of its arguments, an object's. ``run``: maps arguments that
    fit it to a result, a text or what JSON can hold; None: whoever reads the calls runs them.

    Raises ToolsInvalid.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Run | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            reason = "the name of a tool is 1 to 64 letters, digits, _, - and ."
            raise ToolsInvalid(repr(self.name[:80]), reason)
        if unfit := _why_no_schema(self.parameters):
            raise ToolsInvalid(self.name, unfit)
        object.__setattr__(self, "description", sanitise(self.description)[:MAX_DESCRIPTION])

    @classmethod
    def of(cls, function: Callable[..., object]) -> Self:
        """The tool that ``function`` is: its name, annotated parameters and docstring.

        Raises ToolsInvalid where a parameter has no type that JSON can hold.
        """
        told = described(function)
        return cls(told.name, told.description, told.parameters, lambda given: function(**given))

    def running(self, run: Run | None) -> Tool:
        """The same, run by ``run``."""
        return replace(self, run=run)

    def document(self) -> dict[str, Any]:
        """As chat templates and OpenAI's API have it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}

    def digest(self) -> str:
        """A name for exactly this definition, in hexadecimal digits."""
        text = json.dumps(self.document(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def checked_tools(tools: Sequence[Tool | Callable[..., object]]) -> tuple[Tool, ...]:
    """``tools``, where a function stands for the tool that it is. Raises ToolsInvalid."""
    made = tuple(tool if isinstance(tool, Tool) else Tool.of(tool) for tool in tools)
    if len(made) > MAX_TOOLS:
        raise ToolsInvalid("tools", f"there are {len(made)}, more than {MAX_TOOLS}")
    names = [tool.name for tool in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ToolsInvalid(twice, "two tools have this name")
    return made


def checked_choice(choice: str, tools: Sequence[Tool]) -> str:
    """``choice``: auto, required, none, or the name of one of ``tools``. Raises ToolChoiceInvalid.

    A tool that is called auto, required or none cannot be chosen by its name.
    """
    known = choice in CHOICES or choice in {tool.name for tool in tools}
    if not known or (choice == "required" and not tools):
        raise ToolChoiceInvalid(choice)
    return choice


def _why_no_schema(parameters: object) -> str | None:
    if not isinstance(parameters, Mapping):
        return "its parameters are no JSON schema of an object"
    if parameters.get("type", "object") != "object":
        return "its parameters are a schema of something else than an object"
    if depth(parameters, MAX_DEPTH) > MAX_DEPTH:
        return f"its parameters are nested deeper than {MAX_DEPTH}"
    try:
        size = len(json.dumps(dict(parameters), allow_nan=False))
        # Half of a surrogate pair can be escaped, but stands in no prompt.
        json.dumps(dict(parameters), ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return "its parameters are not JSON"
    return f"its parameters have {size} bytes" if size > MOST_BYTES else None
