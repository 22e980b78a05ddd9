"""A reply that may call tools: free until a call has begun, then held to the grammar of calls.

What begins a call is its opening text, once all of it was chosen. From there on names and keys come
from the tools' schemas, up to the text that closes the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from split_client.generation.constraint import Constraint

_TAIL: Final = 64
_BARE: Final = ('{"name"', '{"type":"function"')
_BARE_TAIL: Final = 96


@dataclass(frozen=True, slots=True)
class CallTokens:
    """How one model spells what stands around calls.

    ``rows``: length of a mask; ``opens``: texts that begin a call; ``begin``, ``lead``, ``close``:
    ids of the opening with its white space, of that white space alone, and of what closes a call.
    ``bare``: whether a reply may begin with a call without any mark. ``text``: that of one id,
    ``encode``: ids of a text.
    """

    rows: int
    opens: tuple[str, ...]
    begin: tuple[int, ...]
    lead: tuple[int, ...]
    close: tuple[int, ...]
    bare: bool
    text: Callable[[int], str]
    encode: Callable[[str], list[int]]


class CallConstraint:
    """``make``: the constraint of what stands between opening and close, made when a call begins;
    None where there is no grammar, and calls are free as well. ``required``: the reply is one call.
    """

    def __init__(
        self, tokens: CallTokens, make: Callable[[], Constraint | None], *, required: bool
    ) -> None:
        self._tokens, self._make = tokens, make
        self._required = required
        self._phase: Literal["free", "spelled", "call", "done"] = "free"
        self._pending: tuple[int, ...] = ()
        self._inner: Constraint | None = None
        self._seen, self._begun = "", ""
        self._watching = tokens.bare
        if required:
            self._spell(tokens.begin)

    @property
    def finished(self) -> bool:
        """The one call that was required is made."""
        return self._phase == "done"

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        """The mask [rows], None outside of calls."""
        if self._phase == "spelled":
            mask = np.zeros(self._tokens.rows, np.bool_)
            mask[self._pending[0]] = True
            return mask
        if self._inner is not None:
            return self._inner.allowed(max(1, remaining - len(self._tokens.close)))
        return None

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""
        if self._phase == "spelled":
            self._pending = self._pending[1:]
            self._go_on()
        elif self._inner is not None:
            self._inner.accept(token)
            self._go_on()
        else:
            self._watch(self._tokens.text(token))

    def forced(self, remaining: int) -> list[int]:
        """The rest of a mark, or what the grammar of the call forces."""
        if self._phase == "spelled":
            return list(self._pending[:remaining])
        if self._inner is None:
            return []
        return self._inner.forced(max(0, remaining - len(self._tokens.close)))

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """Outside of calls all up to one that may begin a call."""
        if self._phase == "spelled":
            return _common(tokens, self._pending)
        if self._inner is not None:
            return self._inner.permitted(tokens, max(1, remaining - len(self._tokens.close)))
        seen = self._seen
        for at, token in enumerate(tokens):
            seen = (seen + self._tokens.text(token))[-_TAIL:]
            if any(opening in seen for opening in self._tokens.opens):
                return at + 1
        return len(tokens)

    def _spell(self, tokens: tuple[int, ...]) -> None:
        self._phase, self._pending = "spelled", tokens
        self._go_on()

    def _go_on(self) -> None:
        """To what comes behind a mark, or behind a call, where it is whole."""
        if self._phase == "spelled" and not self._pending:
            if self._inner is None:
                self._hold("")
            else:
                self._end()
        elif self._phase == "call" and self._inner is not None and self._inner.finished:
            self._spell(self._tokens.close)

    def _end(self) -> None:
        self._inner, self._seen = None, ""
        self._phase = "done" if self._required else "free"

    def _watch(self, text: str) -> None:
        self._seen = (self._seen + text)[-_TAIL:]
        for opening in self._tokens.opens:
            _, found, after = self._seen.rpartition(opening)
            if found:
                self._seen, self._watching = "", False
                self._opened(after)
                return
        if self._watching:
            self._watch_bare(text)

    def _opened(self, after: str) -> None:
        """``after``: what stands behind the opening in the same token."""
        if after or not self._tokens.lead:
            self._hold(after)
        else:
            self._spell(self._tokens.lead)

    def _watch_bare(self, text: str) -> None:
        self._begun = (self._begun + text).lstrip()[:_BARE_TAIL]
        packed = "".join(self._begun.split())
        if packed.startswith(_BARE):
            self._watching = False
            self._hold(self._begun)
        elif not any(form.startswith(packed) for form in _BARE):
            self._watching = False

    def _hold(self, begun: str) -> None:
        """Hold what comes to the grammar, if that takes what was written of the call already."""
        inner, begun = self._make(), begun.lstrip()
        for token in self._tokens.encode(begun) if begun and inner is not None else ():
            if inner is None or not _takes(inner, token):
                inner = None
                break
            inner.accept(token)
        self._inner = inner
        self._phase = "free" if inner is None else "call"
        self._go_on()


def _common(tokens: Sequence[int], others: Sequence[int]) -> int:
    """Length of the common beginning."""
    pairs = zip(tokens, others, strict=False)
    most = min(len(tokens), len(others))
    return next((at for at, (one, other) in enumerate(pairs) if one != other), most)


def _takes(constraint: Constraint, token: int) -> bool:
    # Room enough for whatever may follow: only what is written already is asked about.
    mask = constraint.allowed(1 << 20)
    return mask is None or bool(mask[token])
