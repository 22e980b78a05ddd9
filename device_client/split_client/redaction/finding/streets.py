"""Postal addresses: a street with its number, and the place behind it."""

from __future__ import annotations

from collections.abc import Iterator

from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import Found
from split_client.redaction.rules import pattern, rules


def streets(looked: Looked) -> Iterator[Found]:
    """Streets, each followed by its place where there is one; left to right by country."""
    if not any(character in looked.text for character in "0123456789"):
        return
    taken = list[tuple[int, int]]()
    for rule in rules()["streets"]:
        # Quicker than the pattern, which has to be tried at each capital.
        if "needs" in rule and not any(word in looked.lower for word in rule["needs"]):
            continue
        for match in pattern(rule["match"]).finditer(looked.text):
            start, end = match.span()
            if any(start < stop and begun < end for begun, stop in taken):
                continue
            taken.append((start, end))
            key = plain_key(looked.lower[start:end])
            yield looked.found("street", key, start, end, rule["name"])
            yield from _place(looked, end)


def plain_key(lowered: str) -> str:
    """With one space for each run of spaces and line feeds."""
    return " ".join(part for part in lowered.replace("\n", " ").split(" ") if part)


def _place(looked: Looked, at: int) -> Iterator[Found]:
    gap = pattern(rules()["place_gap"]).match(looked.text, at)
    if gap is None:
        return
    for rule in rules()["places"]:
        if match := pattern(rule["match"]).match(looked.text, gap.end()):
            start, end = match.span()
            key = plain_key(looked.lower[start:end])
            yield looked.found("place", key, start, end, rule["name"])
            return
