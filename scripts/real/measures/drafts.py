"""Drafts from what was said before: the tokens that followed the longest repetition of the end.

Prompt lookup decoding (Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding), with
the longest suffix in place of a fixed one.
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_DRAFT = 15
# A longer repetition tells no more about what follows.
_LONGEST_SUFFIX = 8


def draft(context: Sequence[int], longest: int = LONGEST_DRAFT) -> list[int]:
    """What followed the longest suffix of ``context`` that occurs earlier in it, the newest such
    place; at most ``longest`` tokens, none without a repetition.
    """
    best = size = 0
    for end in range(len(context) - 1, 0, -1):
        found = _repeated(context, end)
        if found > size:
            best, size = end, found
    return list(context[best : best + longest]) if size else []


def _repeated(context: Sequence[int], end: int) -> int:
    """How many tokens before ``end`` are those at the end of ``context``."""
    most = min(_LONGEST_SUFFIX, end)
    return next((n for n in range(most) if context[end - 1 - n] != context[-1 - n]), most)


def round_trips(prompt: Sequence[int], reply: Sequence[int], longest: int = LONGEST_DRAFT) -> int:
    """Steps in which a greedy ``reply`` would come: each brings the drafted tokens that are right
    and the one after them.
    """
    made, steps = 0, 0
    while made < len(reply):
        proposed = draft([*prompt, *reply[:made]], longest)
        made += accepted(proposed, reply[made:]) + 1
        steps += 1
    return steps


def accepted(proposed: Sequence[int], truth: Sequence[int]) -> int:
    """How many tokens of ``proposed`` come before the first that is not the ``truth``'s."""
    pairs = zip(proposed, truth, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(proposed), len(truth)))
