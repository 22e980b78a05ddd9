"""What of a chat travels: units of messages, what is left of them, and what a policy drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from split_client.chat.brightness.dimmest import dimmest
from split_client.chat.brightness.runs import kept
from split_client.chat.context.amending import still_dropped
from split_client.chat.context.pruning import candidates, pruned, target_of
from split_client.chat.context.travelling import travelling
from split_client.chat.context.units import units_of
from split_client.chat.message import Message
from split_client.chat.reading import message_in

TEXTS = {
    "sentences": "One. Two! Three? Four… Five.",
    "closed by quotes": "She said “no.” He left. (Why?) Nobody knows.",
    "abbreviations and initials": "Dr. A. Smith met e.g. nobody. It was No. 5. Mr. X vs. Y.",
    "what goes on in small letters": "The file. it said. Ärger? ä. Then.",
    "numbers": "It costs 3.50 euros. Version 1.2.3 is out.",
    "a list": "Do:\n- first. And more\n- second\n  still second\n1. third\n2) fourth\n> said\nend",
    "headings and blank lines": "# Title\ntext of it\nover two lines\n\n\nnext\n## Sub\nmore",
    "code": "Before:\n\n```py\nx = 1. Y\n\ny = 2\n```\n\nAfter. End.",
    "a fence within a longer one": "````\n```\nstill\n````\nout",
    "a fence that nobody closes": "see\n~~~\nx. Y\n``` z",
    "code behind code": "```\na\n```\n```\nb\n```",
    "a table": "Look:\n| a | b |\n|---|---|\n| 1. X | 2 |\n\nDone.",
    "Chinese and Japanese": "你好。再见！「はい。」そうです。",
    "beyond the basic plane": "😀 Hi. 👩‍👩‍👧 Bye.",
    "white space alone": " \n\t\n",
    "carriage returns": "One.\r\n\r\nTwo.\r\n- three\r\n",
    "no end": "no end",
}


def build() -> dict[str, Any]:
    """All of context.json."""
    return {
        "format": 1,
        "units": [
            *(_units(name, Message("assistant", text)) for name, text in TEXTS.items()),
            _units("a result", Message("tool", "One. Two.\nThree", (), "1", "f")),
            _units("nothing", Message("user", "")),
        ],
        "travelling": [_travelling(name, chat) for name, chat in CHATS.items()],
        "pruning": [
            _pruning(name, chat, target)
            for name, chat in LONG.items()
            for target in (0, 200, 300, 10_000)
        ],
        "dimmest": [
            _dimmest(name, chat, target)
            for name, chat in BRIGHT.items()
            for target in (0, 100, 200)
        ],
        "amended": [
            {**case, "still": [[*each] for each in still_dropped(ranges, before, after)]}
            for case, ranges, before, after in _amended()
        ],
        "targets": [{"budget": budget, "target": target_of(budget)} for budget in (64, 4096, 4097)],
    }


def _units(name: str, message: Message) -> dict[str, Any]:
    units = [[unit.start, unit.stop, unit.kind] for unit in units_of(message)]
    return {"name": name, "role": message.role, "content": message.content, "units": units}


def _travelling(name: str, chat: Sequence[Message]) -> dict[str, Any]:
    return {"name": name, "chat": _documents(chat), "sent": _documents(travelling(chat))}


def _pruning(name: str, chat: Sequence[Message], target: int) -> dict[str, Any]:
    """Tokens are characters here, and a chat has those of what travels of it."""
    found = pruned(tuple(chat), candidates(chat), characters, len, target, characters(chat))
    return {
        "name": f"{name}, to {target}",
        "chat": _documents(chat),
        "target": target,
        "pruned": _documents(found.chat),
        "units": found.units,
        "tokens": found.tokens,
    }


def _dimmest(name: str, chat: Sequence[Message], target: int) -> dict[str, Any]:
    """As :func:`_pruning`, the dimmest first."""
    order = dimmest(chat, candidates(chat))
    found = pruned(tuple(chat), order, characters, len, target, characters(chat))
    return {
        "name": f"{name}, to {target}",
        "chat": _documents(chat),
        "order": [[index, unit.start, unit.stop] for index, unit in order],
        "target": target,
        "pruned": _documents(found.chat),
        "units": found.units,
        "tokens": found.tokens,
    }


def _amended() -> Iterator[tuple[dict[str, Any], list[tuple[int, int]], str, str]]:
    for name, (before, after, *dropped) in AMENDED.items():
        case = {"name": name, "before": before, "after": after, "dropped": [*map(list, dropped)]}
        yield case, dropped, before, after


def characters(chat: Sequence[Message]) -> int:
    """Of all that travels."""
    return sum(len(message.content) for message in travelling(chat))


def _documents(chat: Sequence[Message]) -> list[dict[str, Any]]:
    return [message.as_dict() for message in chat]


def _chat(*given: dict[str, Any]) -> tuple[Message, ...]:
    return tuple(message for each in given if isinstance(message := message_in(each), Message))


def _said(role: str, content: str, *dropped: list[int], **more: Any) -> dict[str, Any]:
    return {
        "role": role,
        "content": content,
        **({"dropped": [*dropped]} if dropped else {}),
        **more,
    }


AMENDED: dict[str, Any] = {
    "it goes on": ("One. Two.", "One. Two. Three.", (0, 5)),
    "its end is another": ("One. Two.", "One. Ten.", (0, 5), (6, 9)),
    "its beginning is another": ("One. Two.", "Won. Two.", (0, 5)),
    "it is cut": ("One. Two. Three.", "One. Two", (0, 5), (10, 16)),
    "all of it was left out": ("One.", "One. Two.", (0, 4)),
    "beyond the basic plane": ("😀 Hi. 👍 Bye.", "😀 Hi. 👎 Bye.", (0, 1), (2, 6), (6, 7)),
    "halves of characters are the same": ("👍 Bye.", "👎 Bye.", (0, 1)),
    "nothing is left": ("One.", "", (0, 4)),
}
_CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
_SYSTEM = _said("system", "Be brief.")
CHATS = {
    "nothing dropped": _chat(_SYSTEM, _said("user", "Hi."), _said("assistant", "Ho.")),
    "a sentence": _chat(_said("user", "One. Two. Three.", [5, 10]), _said("assistant", "Ho.")),
    "all of a question": _chat(_said("user", "One.", [0, 4]), _said("assistant", "Ho. He.")),
    "all of a turn": _chat(
        _SYSTEM,
        _said("user", "One.", [0, 4]),
        _said("assistant", "Ho. He.", [0, 4], [4, 7]),
        _said("user", "Two."),
        _said("assistant", "Hu."),
    ),
    "a turn with calls": _chat(
        _said("user", "One.", [0, 4]),
        _said("assistant", "", tool_calls=_CALLS),
        _said("tool", "3", [0, 1], tool_call_id="1", name="f"),
        _said("assistant", "Three.", [0, 6]),
        _said("user", "Two."),
        _said("assistant", "Hu."),
    ),
    "a result": _chat(
        _said("user", "One."),
        _said("assistant", "", tool_calls=_CALLS),
        _said("tool", "3", [0, 1], tool_call_id="1", name="f"),
        _said("assistant", "Three."),
    ),
    "the system message": _chat(
        _said("system", "Be brief.", [0, 9]), _said("user", "Hi."), _said("assistant", "Ho.")
    ),
    "what is to be answered is whole": _chat(
        _said("user", "One."), _said("assistant", "Ho."), _said("user", "Two. Now?", [0, 5])
    ),
    "code points beyond the basic plane": _chat(
        _said("user", "😀 Hi. 👍 Bye.", [0, 6]), _said("assistant", "Ho.")
    ),
    "white space that is left": _chat(_said("user", "One. \n", [0, 4]), _said("assistant", "Ho.")),
}
_TURNS = [
    _said(role, f"{role} {number}. Some more of it. And an end.")
    for number in range(5)
    for role in ("user", "assistant")
]
LONG = {
    "a long chat": _chat(_SYSTEM, *_TURNS),
    "a pinned message": _chat(_SYSTEM, *_TURNS[:3], {**_TURNS[3], "pinned": True}, *_TURNS[4:]),
    "one that was pruned before": _chat(
        _TURNS[0], {**_TURNS[1], "dropped": [[0, 13]]}, *_TURNS[2:]
    ),
}


def _lit(message: dict[str, Any], *runs: tuple[int, int]) -> dict[str, Any]:
    """``message`` with brightness in runs of [code points, brightness], the last to its end."""
    values = [value for count, value in runs for _ in range(count)]
    content = str(message["content"])
    values += [runs[-1][1]] * (len(content) - len(values))
    return {**message, "brightness": kept(np.array(values[: len(content)], np.int64))}


BRIGHT = {
    "nothing was looked at": _chat(_SYSTEM, *_TURNS[:6]),
    "some was looked at": _chat(
        _SYSTEM,
        *_TURNS[:2],
        _lit(_TURNS[2], (8, 40_000), (1, 100)),
        _lit(_TURNS[3], (13, 30_000), (16, 50_000), (1, 30_000)),
        _TURNS[4],
        _lit({**_TURNS[5], "dropped": [[0, 13]]}, (1, 0)),
        *_TURNS[6:8],
    ),
    "dim and pinned": _chat(
        *_TURNS[:2],
        _lit({**_TURNS[2], "pinned": True}, (1, 0)),
        _lit(_said("assistant", "😀 Hi there. 👍 Bye now."), (2, 65_535), (11, 5), (3, 70)),
        *_TURNS[4:6],
    ),
}
