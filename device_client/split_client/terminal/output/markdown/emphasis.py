"""Runs of ``*``, ``_`` and ``~`` that open and close emphasis (CommonMark 0.31, section 6.2).

Unlike there, characters of scripts without spaces count as punctuation: in ``**「強」**です`` the
emphasis closes.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

_LONGEST_RUN = 3


def run_length(text: str, at: int) -> int:
    """The number of times that the character at ``at`` repeats."""
    end = at
    while end < len(text) and text[end] == text[at]:
        end += 1
    return end - at


def opens(before: str, after: str, mark: str) -> bool:
    """Whether a run of ``mark`` between the two characters may begin emphasis."""
    left = _flanks(before, after)
    return left and (mark != "_" or not _flanks(after, before) or _is_boundary(before))


def closes(before: str, after: str, mark: str) -> bool:
    """Whether it may end emphasis."""
    right = _flanks(after, before)
    return right and (mark != "_" or not _flanks(before, after) or _is_boundary(after))


def closing_run(text: str, run: int, ended: bool) -> int | None:
    """The place of the marks that close the ``run`` marks at the beginning of ``text``.

    None while there are none, or while it is undecided: what looks like one may stand in code.
    """
    mark, open_runs, at = text[0], [run], run
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        length = run_length(text, at)
        if text[at] == "`":
            end = _after_code(text, at, length)
            if end is None and not ended:
                return None
            length = end - at if end else length
        elif text[at] == mark:
            after = text[at + length : at + length + 1]
            if not after and not ended:
                return None
            left = _close(open_runs, text[at - 1], after or "\n", mark, length)
            if not open_runs:
                return at + length - left - run
        at += length
    return None


def _close(open_runs: list[int], before: str, after: str, mark: str, length: int) -> int:
    """Match a run with those that are open, the innermost first; how many marks are left over."""
    if closes(before, after, mark):
        if length in open_runs:
            while open_runs.pop() != length:
                pass
            return 0
        while open_runs and length >= open_runs[-1]:
            length -= open_runs.pop()
    elif length <= _LONGEST_RUN and opens(before, after, mark):
        open_runs.append(length)
    return length


def _after_code(text: str, start: int, run: int) -> int | None:
    at = start + run
    while (at := text.find("`", at)) >= 0:
        length = run_length(text, at)
        if length == run:
            return at + length
        at += length
    return None


def _flanks(outside: str, inside: str) -> bool:
    """Whether a run belongs to the text on its ``inside``."""
    if inside.isspace():
        return False
    return not _is_punctuation(inside) or _is_boundary(outside)


def _is_punctuation(character: str) -> bool:
    return category(character)[0] in "PS"


def _is_boundary(character: str) -> bool:
    """White space, punctuation, or a script that is written without spaces."""
    return (
        character.isspace()
        or _is_punctuation(character)
        or east_asian_width(character) in ("W", "F")
    )
