"""What is redacted, as a person sets it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from split_client.redaction.errors import RedactionInvalid
from split_client.redaction.finding.words import words_in
from split_client.redaction.folding import fold, lower
from split_client.redaction.kinds import GROUPS, ON_REQUEST, Kind
from split_client.redaction.rules import regions, words

NameKind: TypeAlias = Literal["given", "family"]
USUAL: Final = frozenset(GROUPS) - ON_REQUEST
MOST_NAMES: Final = 5_000
_LONGEST_NAME: Final = 200
_REGION: Final = re.compile("[A-Z]{2}")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """``groups``: of :data:`GROUPS`; ``regions``: countries, two letters each, whose phone numbers
    and ids are known without their code, the first first; ``names``: people of one's own, as
    "Anna Schmidt".

    Raises RedactionInvalid.
    """

    groups: frozenset[str] = USUAL
    regions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for group in self.groups:
            if group not in GROUPS:
                known = ", ".join(GROUPS)
                raise RedactionInvalid(f"there is no kind {group[:40]!r}; there are {known}")
        for region in self.regions:
            if not _REGION.fullmatch(region) or region not in regions():
                raise RedactionInvalid(f"{region[:40]!r} is no country's two letters, like DE")
        if len(self.names) > MOST_NAMES:
            raise RedactionInvalid(f"there are more than {MOST_NAMES} names")
        for name in self.names:
            own_words(name)

    def with_those_of(self, other: RedactionSettings) -> RedactionSettings:
        """What either of them looks for; the regions of this one first."""
        return RedactionSettings(
            self.groups | other.groups,
            tuple(dict.fromkeys((*self.regions, *other.regions))),
            tuple(dict.fromkeys((*self.names, *other.names))),
        )

    @property
    def kinds(self) -> frozenset[Kind]:
        """Those that are looked for."""
        return frozenset(kind for group in self.groups for kind in GROUPS[group])


def own_words(name: str) -> dict[str, NameKind]:
    """The words of a person's name by key: the last one is a surname, those before are first names;
    one that stands alone is a first name.

    Raises RedactionInvalid for what has no word.
    """
    text = fold(name).text
    found = [
        word.key
        for word in words_in(text, lower(text))
        if len(word.key) > 1 and word.key not in words("particles") | words("titles")
    ]
    if not found or len(name) > _LONGEST_NAME:
        raise RedactionInvalid(
            f"{name[:40]!r} has no word of two Latin letters that could be a name"
        )
    made: dict[str, NameKind] = dict.fromkeys(found, "given")
    if len(found) > 1:
        made[found[-1]] = "family"
    return made


def names_in_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """One person a line; empty lines and those that begin with # are none."""
    stripped = (line.strip() for line in lines)
    return tuple(line for line in stripped if line and not line.startswith("#"))
