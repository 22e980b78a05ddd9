"""Conditional and range requests (RFC 9110, sections 13 and 14) over one strong entity tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SINGLE = re.compile(r"bytes=[ \t]*(?P<first>\d{0,20})-(?P<last>\d{0,20})[ \t]*")


@dataclass(frozen=True, slots=True)
class Whole:
    """Answer 200 with everything."""


@dataclass(frozen=True, slots=True)
class Part:
    """Answer 206 with the bytes from ``first`` up to, not including, ``end``."""

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """Answer 416."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Answer 304."""


Selection = Whole | Part | Unsatisfiable | Unchanged


def select(method: str, headers: Mapping[str, str], etag: str, size: int) -> Selection:
    """The answer to a GET or HEAD for ``size`` bytes whose quoted entity tag is ``etag``.

    ``headers`` looks names up in lower case. Several ranges at once are answered with the whole,
    which RFC 9110, 14.2 allows.
    """
    known = headers.get("if-none-match")
    if known is not None and _matches(known, etag):
        return Unchanged()
    wanted = headers.get("range")
    if wanted is None or method != "GET" or headers.get("if-range", etag) != etag:
        return Whole()
    match = _SINGLE.fullmatch(wanted)
    if match is None or not (match["first"] or match["last"]):
        return Whole()
    return _part(match["first"], match["last"], size)


def _part(first: str, last: str, size: int) -> Selection:
    if not first:
        length = min(int(last), size)
        return Part(size - length, size) if length else Unsatisfiable()
    begin = int(first)
    end = int(last) + 1 if last else size
    if end <= begin and last:
        return Whole()
    return Part(begin, min(end, size)) if begin < size else Unsatisfiable()


def _matches(header: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in tags or etag in tags
