"""Responses that are kept because their requests say so: in memory, for a while, of one principal.

They hold texts of users, so that how many there are, how large and how old is bounded, and whoever
may no longer come in has none.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from split_server.compat.openai.errors import OpenAIError

# Of all principals, and of one: bytes, and how many. The memory plan sets them aside.
KEPT_BYTES: Final = 16 << 20
OWN_BYTES: Final = 4 << 20
MOST: Final = 64
SECONDS: Final = 3600.0
# Of an entry beside its texts.
_ENTRY_BYTES = 1024


class ResponseTooLarge(OpenAIError):
    """More than one principal may have kept (bytes)."""

    code = "response_too_large"
    status = 413

    def __init__(self, size: int) -> None:
        super().__init__(
            f"a response with all that was said before it has {size} bytes, of which {OWN_BYTES} "
            "are kept of one token; leave store out, and send the messages yourself",
            "store",
        )


class ResponseNotFound(OpenAIError):
    """No such response is kept of this principal."""

    code = "response_not_found"
    status = 404

    def __init__(self) -> None:
        super().__init__(
            "no response of this id is kept here; it was not stored, was deleted, or has expired"
        )


class PreviousNotFound(OpenAIError):
    """The same, of the response that a request follows."""

    code = "previous_response_not_found"

    def __init__(self) -> None:
        super().__init__(
            "previous_response_id is that of no response that is kept here; it was not sent with "
            "store: true, was deleted, or has expired. Send its messages in input",
            "previous_response_id",
        )


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """JSON of the ``response``, of its input ``items``, and of the ``messages`` of the chat, of
    which its own is the last.
    """

    response: bytes
    items: bytes
    messages: bytes

    @property
    def size(self) -> int:
        """Bytes that it counts as."""
        return len(self.response) + len(self.items) + len(self.messages) + _ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class _Entry:
    kept: KeptResponse
    until: float


class KeptResponses:
    """``clock`` in seconds. Lives on the event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # The longest kept first.
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._bytes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of all."""
        return self._bytes.total()

    def require(self, size: int) -> None:
        """Raises ResponseTooLarge for what no principal may have kept."""
        if size + _ENTRY_BYTES > OWN_BYTES:
            raise ResponseTooLarge(size)

    def keep(self, principal: str, id_: str, kept: KeptResponse) -> bool:
        """Keep it, in place of the principal's oldest if need be, and of the oldest of whoever has
        the most; false if it is too large.
        """
        if kept.size > OWN_BYTES:
            return False
        self.sweep()
        while self._bytes[principal] + kept.size > OWN_BYTES or self._counts[principal] >= MOST:
            self._drop(self._oldest(principal))
        while self.size + kept.size > KEPT_BYTES:
            self._drop(self._oldest(max(self._bytes, key=self._bytes.__getitem__)))
        self._entries[principal, id_] = _Entry(kept, self._clock() + SECONDS)
        self._bytes[principal] += kept.size
        self._counts[principal] += 1
        return True

    def find(self, principal: str, id_: str) -> KeptResponse | None:
        """None where the principal has none of that id."""
        self.sweep()
        entry = self._entries.get((principal, id_))
        return None if entry is None else entry.kept

    def delete(self, principal: str, id_: str) -> bool:
        """Whether there was one."""
        if (principal, id_) not in self._entries:
            return False
        self._drop((principal, id_))
        return True

    def sweep(self) -> None:
        """Drop those whose time is up."""
        now = self._clock()
        while self._entries:
            oldest = next(iter(self._entries))
            if self._entries[oldest].until > now:
                return
            self._drop(oldest)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop those of the principals that ``gone`` is true for."""
        for key in [key for key in self._entries if gone(key[0])]:
            self._drop(key)

    def _oldest(self, principal: str) -> tuple[str, str]:
        return next(key for key in self._entries if key[0] == principal)

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._entries.pop(key)
        self._bytes[key[0]] -= entry.kept.size
        self._counts[key[0]] -= 1
        for counts in (self._bytes, self._counts):
            if not counts[key[0]]:
                del counts[key[0]]
