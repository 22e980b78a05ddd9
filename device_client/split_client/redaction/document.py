"""A map as a chat's file has it.

``{"version": 1, "on": bool, "secret": hex, "kinds": [...], "regions": [...], "names": [...],
"entries": [[kind, key, value, surrogate, rule]], "replies": [[text, as it was written]]}``. It is
believed only where its surrogates follow from its secret: one that stands for itself, or for
another person's value, would have a value sent as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args

from split_client.redaction.entries import MOST_ENTRIES, Entries, Entry
from split_client.redaction.errors import RedactionInvalid, RedactionMapInvalid
from split_client.redaction.kinds import NAMES, NUMBERS, Kind
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.spotting import key_of
from split_client.redaction.squeezed import squeeze
from split_client.redaction.surrogates.making import is_attempt

VERSION: Final = 1
MOST_REPLIES: Final = 20_000
_LONGEST: Final = 400
_LONGEST_REPLY: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class RedactionDocument:
    """``replies``: texts of the model, undone, with what it had written."""

    on: bool
    settings: RedactionSettings
    secret: bytes
    entries: tuple[Entry, ...]
    replies: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        settings = self.settings
        return {
            "version": VERSION,
            "on": self.on,
            "secret": self.secret.hex(),
            "kinds": sorted(settings.groups),
            "regions": list(settings.regions),
            "names": list(settings.names),
            "entries": [[e.kind, e.key, e.value, e.surrogate, e.rule] for e in self.entries],
            "replies": [list(pair) for pair in self.replies],
        }


def document_in(given: object) -> RedactionDocument:
    """The map that JSON has. Raises RedactionMapInvalid."""
    match given:
        case {
            "version": int(version),
            "on": bool(on),
            "secret": str(secret),
            "kinds": list(kinds),
            "regions": list(regions),
            "names": list(names),
            "entries": list(entries),
            "replies": list(replies),
        }:
            if version != VERSION or isinstance(version, bool):
                raise RedactionMapInvalid("its version is unknown; update split-client")
        case _:
            raise RedactionMapInvalid("a part of it is missing")
    try:
        settings = RedactionSettings(
            frozenset(_texts(kinds)), tuple(_texts(regions)), tuple(_texts(names))
        )
        key = bytes.fromhex(secret)
    except (RedactionInvalid, ValueError) as error:
        raise RedactionMapInvalid(str(error)) from error
    if len(key) != 32:
        raise RedactionMapInvalid("its secret has not 32 bytes")
    if len(entries) > MOST_ENTRIES or len(replies) > MOST_REPLIES:
        raise RedactionMapInvalid("it is too long")
    found = Entries()
    for each in entries:
        found.add(_entry(each, key))
    return RedactionDocument(on, settings, key, tuple(found), tuple(map(_reply, replies)))


def _texts(given: Iterable[object]) -> list[str]:
    texts = [each for each in given if isinstance(each, str) and len(each) <= _LONGEST]
    if len(texts) != len([*given]):
        raise RedactionMapInvalid("a list of it has other things than short texts")
    return texts


def _entry(given: object, secret: bytes) -> Entry:
    if not isinstance(given, list) or len(given) != 5:
        raise RedactionMapInvalid("an entry is not of five texts")
    kind, key, value, surrogate, rule = _texts(given)
    if kind not in get_args(Kind):
        raise RedactionMapInvalid(f"there is no kind {kind[:40]!r}")
    entry = Entry(kind, key, value, surrogate, rule)  # type: ignore[arg-type]
    if not _is_of(entry):
        raise RedactionMapInvalid("a value is not that of its key")
    if not is_attempt(secret, entry.kind, key, rule, surrogate):
        raise RedactionMapInvalid("a surrogate does not follow from its secret")
    return entry


def _is_of(entry: Entry) -> bool:
    """Whether the value, as it was written, has that key."""
    if entry.kind in NUMBERS or entry.kind == "date":
        # Written without its code, or in words.
        solid = squeeze(key_of("email", entry.value)).characters
        return entry.kind not in ("iban", "card", "id") or solid == entry.key
    made = key_of(entry.kind, entry.value)
    return made == entry.key and (entry.kind not in NAMES or " " not in made)


def _reply(given: object) -> tuple[str, str]:
    match given:
        case [str(text), str(written)] if len(text) + len(written) <= _LONGEST_REPLY:
            return text, written
        case _:
            raise RedactionMapInvalid("a reply of it is not of two texts")
