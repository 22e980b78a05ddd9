"""A text with values or surrogates put in place of what stands there, in the same spelling."""

from __future__ import annotations

from split_client.redaction.finding.looked import Looked
from split_client.redaction.folding import Folded
from split_client.redaction.kinds import NAMES, NUMBERS, DateParts, Kind, number_of
from split_client.redaction.rules import rules
from split_client.redaction.squeezed import solid_at


def respelled(
    kind: Kind, new: str, looked: Looked, start: int, end: int, parts: DateParts | None = None
) -> str:
    """``new``, a key of ``kind`` where that is a number or a date, as the characters from
    ``start`` to ``end`` are written.
    """
    if kind in NUMBERS:
        return _number(looked.folded, start, end, number_of(kind, new))
    if kind == "date" and parts is not None:
        return _date(looked.folded, (start, end), parts, new)
    if kind in NAMES:
        return _name(looked.text[start:end], new)
    return new


def _number(folded: Folded, start: int, end: int, new: str) -> str:
    """The last characters are those of ``new``; what stands in gaps stays."""
    text, made = folded.text, list[str]()
    solid = sum(solid_at(text, at) for at in range(start, end))
    kept, last = solid - len(new), -1
    for at in range(start, end):
        first = folded.starts[at] != last
        last = folded.starts[at]
        if not solid_at(text, at):
            made.append(folded.source[last : folded.ends[at]] if first else "")
        elif kept > 0:
            kept -= 1
            made.append(text[at])
        else:
            character, new = new[0], new[1:]
            made.append(character.lower() if text[at].islower() else character)
    return "".join(made)


def _date(folded: Folded, span: tuple[int, int], parts: DateParts, key: str) -> str:
    year, month, day = key.split("-")
    text = folded.text
    if parts.words is None:
        written = _figures(month, parts.month)
    else:
        written = _name(text[slice(*parts.month)], rules()["months"][parts.words][int(month) - 1])
    new = {parts.day: _figures(day, parts.day), parts.month: written, parts.year: year}
    made, at = list[str](), span[0]
    for start, end in sorted(new):
        made += (text[at:start], new[start, end])
        at = end
    return "".join([*made, text[at : span[1]]])


def _figures(number: str, where: tuple[int, int]) -> str:
    return str(int(number)).zfill(where[1] - where[0])


def _name(written: str, new: str) -> str:
    """In capitals or small letters where it is written so."""
    if len(written) > 1 and written == written.upper() and written != written.lower():
        return new.upper()
    if written[:1] != written[:1].upper():
        return new.lower()
    return new[:1].upper() + new[1:]
