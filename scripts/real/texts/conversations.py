"""Conversations of several turns, written for this repository: what people come back to a chat for.

Some share a system message, some a passage; each reply is the one that the next turn goes on from.
"""

from __future__ import annotations

import json
from pathlib import Path

from scripts.real.chats import Chat
from scripts.real.texts.passages import CODE, PASSAGES

_GUIDE = (
    "You are the guide of a small town. Answer in one or two sentences, name places by their full "
    "names, and say so when you do not know something. Never invent opening hours. If somebody "
    "asks for a way, begin at the market square."
)
_TUTOR = (
    "You are a patient tutor of programming. Explain one step at a time, show short code, and end "
    "with a question that the student can answer."
)

_WRITTEN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        _GUIDE,
        (
            f"Here is what our leaflet says: {PASSAGES[0]} When was the harbour built?",
            "The harbour of Elmsworth was built in 1882 by the engineer Clara Whitfield.",
            "And what broke the southern pier?",
            "A storm in the winter of 1953 broke the southern pier.",
            "What is the old ice house today?",
            "Today the old ice house is a museum, which opens from May to September.",
            "Write one sentence that invites families to visit it.",
        ),
    ),
    (
        _GUIDE,
        (
            f"Here is what our leaflet says: {PASSAGES[2]} When does the library close?",
            "The library of Norton closes for repairs on 14 March and opens again on 2 June.",
            "Where can children read in the meantime?",
            "Reading hours for children take place in the town hall on Saturdays at eleven.",
            "How many books does the bus carry?",
        ),
    ),
    (
        _TUTOR,
        (
            f"What does this function do?\n\n{CODE[0]}",
            "It adds all values and divides the sum by how many there are. What is that called?",
            "The average. What happens with an empty list?",
            "len(values) is 0 then, so Python raises ZeroDivisionError. How could you avoid that?",
            "By asking first whether the list is empty. Show me.",
            "Begin with: if not values: return 0.0. What else could the function return there?",
            "None, I think. Which of the two is better?",
        ),
    ),
    (
        _TUTOR,
        (
            f"What does this function do?\n\n{CODE[1]}",
            "It looks for an item with that name. What does it return when there is none?",
            "I am not sure. Tell me.",
            "A function without a return statement at its end returns None. Where is its end?",
            "After the loop. Give me a test for that case.",
        ),
    ),
    (
        "",
        (
            f"Summarise this text in one sentence.\n\n{PASSAGES[1]}",
            "Bees tell each other by a dance in which direction and how far away flowers are.",
            "What shows the distance?",
            "The time of the straight run shows how far away the food is.",
            "And the direction?",
            "The angle of the line shows the angle between the sun and the food.",
            "Put both into a table with two rows.",
        ),
    ),
    (
        "",
        (
            f"Summarise this text in one sentence.\n\n{PASSAGES[1]}",
            "Bees dance to show each other the way to flowers.",
            "Now for a child of six.",
            "Bees do a little dance to tell their friends where the yummy flowers are!",
            "Make it rhyme.",
        ),
    ),
)


def conversations() -> list[Chat]:
    """All of them; each ends with a message of the user's."""
    return [_chat(system, turns) for system, turns in _WRITTEN]


def read(path: Path) -> list[Chat]:
    """Conversations of a file with one in each line: a list of maps of ``role`` and ``content``, or
    a map with it under ``messages``. Raises ValueError, OSError.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        value = json.loads(line)
        messages = value["messages"] if isinstance(value, dict) else value
        if not isinstance(messages, list) or not all(map(_is_message, messages)):
            raise ValueError(f"line {number} is no list of messages with role and content")
        found.append([{key: one[key] for key in ("role", "content")} for one in messages])
    return found


def turns(chat: Chat) -> list[Chat]:
    """What was there when each of the user's messages was answered."""
    return [chat[: at + 1] for at, message in enumerate(chat) if message["role"] == "user"]


def _chat(system: str, said: tuple[str, ...]) -> Chat:
    roles = ("user", "assistant")
    first = [{"role": "system", "content": system}] if system else []
    return first + [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("role", "content")
    )
