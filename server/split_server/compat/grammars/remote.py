"""A constraint in a process of its own, as the thread of its generation sees it."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any

import numpy as np

from split_client.grammar.errors import FormTooCostly, GrammarInvalid, refusal
from split_client.grammar.vocabulary import Mask
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.messages import (
    MASK,
    MOST_FORCED,
    Torn,
    asking,
    document,
    packed,
    read,
)
from split_wire.errors import Overloaded

TOO_COSTLY = "it needs more time or memory than a grammar may; make it simpler"
_BUSY = "the grammar of this reply got no answer in time"
# Beyond the time after which the process ends itself.
_MARGIN_SECONDS = 5.0


class RemoteConstraint:
    """A ``split_client.generation.constraint.Constraint``; leaving its context ends the process."""

    def __init__(self, source: socket.socket, form: str, rows: int, limits: GrammarLimits) -> None:
        """``source``: to a fresh copy, and this constraint's own; ``form``: as JSON;
        ``rows``: of masks.

        Blocks while it is compiled. Raises GrammarInvalid, Overloaded.
        """
        self._source, self._rows = source, rows
        self._finished = False
        source.settimeout(limits.step_seconds + _MARGIN_SECONDS)
        try:
            self._begin(form)
        except BaseException:
            source.close()
            raise

    def __enter__(self) -> RemoteConstraint:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._source.close()

    @property
    def finished(self) -> bool:
        """The text is whole and nothing may follow."""
        return self._finished

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next.

        Raises GrammarInvalid, also when the process was ended for what it costs; Overloaded.
        """
        body = self._ask(packed({"allowed": remaining}))
        if not body.startswith(MASK):
            raise _refusal(document(body))
        bits = np.frombuffer(body, np.uint8, offset=len(MASK))
        mask = np.unpackbits(bits, bitorder="little")
        return mask[: self._rows].view(np.bool_)

    def forced(self, remaining: int) -> list[int]:
        """At most ``remaining`` tokens that come next whatever is chosen; it does not move.

        Raises as :meth:`allowed`.
        """
        answer = document(self._ask(packed({"forced": remaining})))
        return [int(token) for token in answer.get("tokens", ())]

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """How many of the first of ``tokens`` it would allow one after the other; it does not move.

        Raises as :meth:`allowed`.
        """
        asked = {"permitted": tokens[:MOST_FORCED], "remaining": remaining}
        return int(document(self._ask(packed(asked))).get("count", 0))

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed. Raises GrammarInvalid, Overloaded."""
        self._finished = bool(document(self._ask(packed({"accept": token}))).get("finished"))

    def _begin(self, form: str) -> None:
        try:
            self._source.sendall(asking(form, reply=True))
            alive = read(self._source)
        except (OSError, Torn):
            alive = None
        if alive is None:
            raise Overloaded("the system gives a grammar no process")
        answer: dict[str, Any] = document(self._ask(b""))
        if "refused" in answer:
            raise _refusal(answer)

    def _ask(self, message: bytes) -> bytes:
        try:
            self._source.sendall(message)
            answer = read(self._source)
        except TimeoutError:
            raise Overloaded(_BUSY) from None
        except (OSError, Torn):
            answer = None
        if answer is None:
            raise FormTooCostly(TOO_COSTLY)
        return answer


def _refusal(answer: dict[str, Any]) -> GrammarInvalid:
    return refusal(str(answer.get("code")), str(answer["refused"]))
