"""Chat templates in the formats of the families, and conversations to render with them."""

from __future__ import annotations

import random
import unicodedata
from pathlib import Path
from typing import Any

from tests.web.text.hard_texts import LANGUAGES, PIECES

_TEMPLATES = Path(__file__).with_name("templates")
# repr() of characters that this Python does not know yet is another with the next one.
KNOWN_PIECES = [
    piece for piece in PIECES if all(unicodedata.category(each) != "Cn" for each in piece)
]
TEMPLATES = {path.stem: path.read_bytes().decode() for path in sorted(_TEMPLATES.glob("*.jinja"))}
CHATML, LLAMA3, MISTRAL, QWEN25 = (
    TEMPLATES[name] for name in ("chatml", "llama3", "mistral", "qwen2.5")
)
VARIABLES = {"bos_token": "<s>", "eos_token": "</s>"}


def conversations(count: int, seed: int) -> list[dict[str, Any]]:
    """Variables of as many renderings: messages, with and without tools and their calls."""
    chance = random.Random(seed)  # noqa: S311
    return [_request(chance) for _ in range(count)]


def _request(chance: random.Random) -> dict[str, Any]:
    tools = [_tool(chance) for _ in range(chance.randint(1, 3))] if chance.random() < 0.5 else None
    request = VARIABLES | {
        "messages": _messages(chance, tools),
        "tools": tools,
        "documents": None,
        "add_generation_prompt": chance.random() < 0.7,
    }
    if chance.random() < 0.2:
        request["enable_thinking"] = chance.random() < 0.5
    return request


def _messages(chance: random.Random, tools: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    messages = []
    if chance.random() < 0.4:
        messages.append({"role": "system", "content": _content(chance)})
    for _ in range(chance.randint(1, 4)):
        messages.append({"role": "user", "content": _content(chance)})
        if tools and chance.random() < 0.6:
            messages += _called(chance, tools)
        messages.append({"role": "assistant", "content": _reply(chance)})
    if chance.random() < 0.7:
        messages.append({"role": "user", "content": _content(chance)})
    if chance.random() < 0.05:
        chance.shuffle(messages)
    return messages


def _called(chance: random.Random, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    calls = []
    for _ in range(1 if chance.random() < 0.7 else 2):
        name = chance.choice(tools)["function"]["name"]
        function = {"name": name, "arguments": _arguments(chance)}
        calls.append(
            {"id": "abc12345" + str(chance.randrange(10)), "type": "function", "function": function}
        )
    message: dict[str, Any] = {"role": "assistant", "tool_calls": calls}
    if chance.random() < 0.8:
        message["content"] = chance.choice(["", None, _content(chance)])
    results = [
        {
            "role": "tool",
            "name": call["function"]["name"],
            "content": _content(chance),
            "tool_call_id": call["id"],
        }
        for call in calls
    ]
    return [message, *results]


def _tool(chance: random.Random) -> dict[str, Any]:
    properties = {
        chance.choice(["city", "größe", "items", "unit", "when", "名前"]): _schema(chance, depth=0)
        for _ in range(chance.randint(0, 4))
    }
    return {
        "type": "function",
        "function": {
            "name": chance.choice(["get_weather", "search", "rechne"]),
            "description": _content(chance),
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties)[:1],
            },
        },
    }


def _schema(chance: random.Random, depth: int) -> dict[str, Any]:
    kind = chance.choice(["string", "number", "array", "object"] if depth < 3 else ["string"])
    schema: dict[str, Any] = {"type": kind, "description": _content(chance)}
    if kind == "string":
        schema["enum"] = ["a", "é", '"quoted"', "tab\t", "</x>", "\x7f", "\u2028"]
    if kind == "number":
        schema |= {
            "minimum": 0,
            "maximum": 1.5,
            "default": 1e-7,
            "multipleOf": 0.1,
            "nullable": True,
        }
    if kind == "array":
        schema["items"] = _schema(chance, depth + 1)
    if kind == "object":
        schema["properties"] = {"inner": _schema(chance, depth + 1), "none": {}}
        schema["required"] = []
    return schema


def _arguments(chance: random.Random) -> dict[str, Any]:
    values = [
        "Zürich",
        "",
        3,
        2.5,
        -1,
        True,
        None,
        [1, [2, {}]],
        {"deep": {"a": ["b"]}},
        'it\'s "so"\n',
    ]
    return {
        key: chance.choice(values)
        for key in chance.sample(["city", "unit", "items", "x"], chance.randint(0, 3))
    }


def _content(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.1:
        return ""
    if kind < 0.6:
        return chance.choice(LANGUAGES)
    return "".join(chance.choices(KNOWN_PIECES, k=chance.randint(1, 8)))


def _reply(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return f"<think>\n{_content(chance)}\n</think>\n\n{_content(chance)}"
    return _content(chance)
