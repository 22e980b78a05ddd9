"""Earlier replies of each principal, from which its later ones are drafted."""

from __future__ import annotations

import threading
from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from split_client.generation.speculation.drafts import Draft
from split_client.generation.speculation.memo import Memo
from split_client.generation.speculation.ngrams import LONGEST

# Principals and salts that are remembered, and the bytes of each beside a fixed part of 768 KiB.
MOST, MOST_BYTES = 16, 512 << 10


@dataclass(frozen=True, slots=True)
class _Shared:
    """Several generations of a principal may run at a time."""

    memo: Memo
    lock: threading.Lock = field(default_factory=threading.Lock)


class Recalled:
    """The memo of one principal and salt as one generation uses it."""

    name = Memo.name

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self._tail = array("i")

    def follow(self, tokens: Sequence[int]) -> None:
        """As :meth:`DraftSource.follow`."""
        self._tail = array("i", tokens[-LONGEST:])

    def draft(self, most: int) -> Draft | None:
        """As :meth:`DraftSource.draft`."""
        with self._shared.lock:
            self._shared.memo.follow(self._tail)
            return self._shared.memo.draft(most)

    def replied(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        """As :meth:`Remembering.replied`."""
        with self._shared.lock:
            self._shared.memo.replied(prompt, reply)

    def forget(self) -> None:
        """As :meth:`DraftSource.forget`, for all of the principal's."""
        with self._shared.lock:
            self._shared.memo.forget()


class Memories:
    """Of at most ``most`` principals and salts, of each principal those used last. Lives on the
    event loop.
    """

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._known: OrderedDict[tuple[str, str], _Shared] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, principal: str, salt: str | None) -> Recalled:
        """What a generation of ``principal`` under ``salt`` may draft from."""
        known = (principal, salt or "")
        shared = self._known.get(known)
        if shared is None:
            shared = self._known[known] = _Shared(Memo(self._most_bytes))
        self._known.move_to_end(known)
        while len(self._known) > self._most:
            self._drop(self._dispensable())
        return Recalled(shared)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """As :meth:`Beside.forget`."""
        for known in [known for known in self._known if gone(known[0])]:
            self._drop(known)

    def purge(self, principal: str, salt: str | None) -> None:
        """As :meth:`Beside.purge`."""
        for known in [known for known in self._known if known[0] == principal]:
            if salt is None or known[1] == salt:
                self._drop(known)

    def _dispensable(self) -> tuple[str, str]:
        """The oldest of whoever has the most: many salts of one principal cost no other its own."""
        held = Counter(principal for principal, _ in self._known)
        return max(self._known, key=lambda known: held[known[0]])

    def _drop(self, known: tuple[str, str]) -> None:
        # A generation that runs goes on with an empty one, and remembers for nobody.
        Recalled(self._known.pop(known)).forget()
