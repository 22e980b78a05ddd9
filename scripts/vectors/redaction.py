"""Redaction: texts folded, values found, surrogates drawn, and replies undone.

Places are counted in Unicode code points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scripts.vectors.redacted import texts
from split_client.redaction.finding.looked import Looked
from split_client.redaction.folding import fold
from split_client.redaction.kinds import GROUPS
from split_client.redaction.known_values import KnownValues
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.surrogates.making import attempted
from split_client.redaction.undoing.protected import Protection
from split_client.redaction.undoing.stream import Undo

SECRET: Final = bytes(range(32))
ALL: Final = frozenset(GROUPS)
COUNTS: Final[dict[str, Callable[[str], int]]] = {
    "none": lambda _: 0,
    "thirds": lambda text: -(-len(text) // 3),
}


def build() -> dict[str, Any]:
    """All of redaction.json."""
    return {
        "format": 1,
        "secret": SECRET.hex(),
        "folding": [_folding(text) for text in texts.FOLDED],
        "found": [_found(*case) for case in texts.FOUND],
        "surrogates": [_surrogate(*case) for case in texts.DRAWN],
        "chats": [_chat(name, chat) for name, chat in texts.CHATS.items()],
        "protected": [_protected(text) for text in texts.PROTECTED],
        "undone": [_undone(name, case) for name, case in texts.UNDONE.items()],
    }


def _folding(text: str) -> dict[str, Any]:
    folded = fold(text)
    ranges = [[*pair] for pair in zip(folded.starts, folded.ends, strict=True)]
    return {"text": text, "folded": folded.text, "ranges": ranges}


def _found(text: str, regions: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> dict[str, Any]:
    settings = RedactionSettings(ALL, regions, names)
    known = KnownValues()
    known.own(names)
    looked = Looked.at(text, regions)
    found = []
    for each in known.found(looked, settings):
        start, end = looked.folded.span(each.start, each.end)
        found.append([each.kind, each.key, start, end, each.rule])
    return {"text": text, "regions": [*regions], "names": [*names], "found": found}


def _surrogate(kind: Any, key: str, rule: str = "") -> dict[str, Any]:
    made = [attempted(SECRET, kind, key, rule, attempt) for attempt in (0, 1, 2, 63, 64, 255)]
    return {"kind": kind, "key": key, "rule": rule, "attempts": made}


def _chat(name: str, chat: dict[str, Any]) -> dict[str, Any]:
    """Messages go out one after another; each surrogate may occur in none of them."""
    regions, names = chat.get("regions", ()), chat.get("names", ())
    settings = RedactionSettings(frozenset(chat.get("kinds", ALL)), regions, names)
    count = chat.get("count", "none")
    redactor = Redactor(settings, SECRET, count=COUNTS[count])
    said, out = list[str](), []
    for message in chat["messages"]:
        out.append(redactor.redacted(message, said))
        said.append(message)
    return {
        "name": name,
        "kinds": sorted(settings.groups),
        "regions": [*regions],
        "names": [*names],
        "count": count,
        "messages": chat["messages"],
        "out": out,
        "entries": [[e.kind, e.key, e.value, e.surrogate, e.rule] for e in redactor.entries],
        "undone": [_whole(redactor, text) for text in out],
    }


def _protected(text: str) -> dict[str, Any]:
    return {"text": text, "flags": "".join(map(str, Protection().flags(text)))}


def _undone(name: str, case: dict[str, Any]) -> dict[str, Any]:
    """``reply`` has the surrogates of ``values``, in braces by number."""
    settings = RedactionSettings(ALL, case.get("regions", ()), case.get("names", ()))
    redactor = Redactor(settings, SECRET)
    redactor.redacted("\n".join(case["values"]))
    entries = [*redactor.entries]
    reply = case["reply"]
    for number, entry in enumerate(entries):
        shown = entry.surrogate.rpartition(" ")[2] if entry.kind == "phone" else entry.surrogate
        reply = reply.replace(f"{{{number}}}", shown)
        reply = reply.replace(f"{{{number}^}}", shown.upper())
        spaced = " ".join(shown[at : at + 4] for at in range(0, len(shown), 4))
        reply = reply.replace(f"{{{number}_}}", spaced)
    return {
        "name": name,
        "regions": [*settings.regions],
        "entries": [[e.kind, e.key, e.value, e.surrogate, e.rule] for e in entries],
        "reply": reply,
        "undone": _whole(redactor, reply),
        "pieces": _pieces(redactor, reply),
    }


def _whole(redactor: Redactor, text: str) -> str:
    undo = Undo(redactor.surrogates, redactor.settings.regions)
    return undo.push(text) + undo.finish()


def _pieces(redactor: Redactor, text: str) -> list[str]:
    """What is certain after each three characters of the reply, and at its end."""
    undo = Undo(redactor.surrogates, redactor.settings.regions)
    given = [text[at : at + 3] for at in range(0, len(text), 3)]
    return [*(undo.push(piece) for piece in given), undo.finish()]
