"""What is found in a text, in few words."""

from __future__ import annotations

from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import GROUPS
from split_client.redaction.known_values import KnownValues
from split_client.redaction.settings import RedactionSettings


def found(
    text: str, regions: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    """Kinds and keys of all values."""
    known = KnownValues()
    known.own(names)
    settings = RedactionSettings(frozenset(GROUPS), regions, names)
    return [(each.kind, each.key) for each in known.found(Looked.at(text, regions), settings)]


def keys(kind: str, text: str, regions: tuple[str, ...] = ()) -> list[str]:
    """Keys of the values of one kind."""
    return [key for found_kind, key in found(text, regions) if found_kind == kind]
