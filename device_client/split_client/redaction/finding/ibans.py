"""IBANs (ISO 13616): a country that has them, its length, and check digits that are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from split_client.redaction import checks
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import Found
from split_client.redaction.rules import rules
from split_client.redaction.squeezed import gap_of

_BEGINS: Final = re.compile("[A-Z]{2}[0-9]{2}")


def ibans(looked: Looked) -> Iterator[Found]:
    squeezed, gap = looked.squeezed, gap_of("iban")
    lengths: dict[str, int] = rules()["iban"]
    at = 0
    while match := _BEGINS.search(squeezed.characters, at):
        first = match.start()
        at = first + 1
        end = first + lengths.get(match.group()[:2], 0)
        key = squeezed.characters[first:end]
        if (
            first < end <= len(squeezed.characters)
            # "IBANDE89…" is one as well.
            and not squeezed.follows_digit(first)
            and not squeezed.precedes_digit(end)
            and squeezed.together(first, end, gap)
            and checks.iban(key)
        ):
            yield looked.found("iban", key, squeezed.at[first], squeezed.at[end - 1] + 1)
            at = end
