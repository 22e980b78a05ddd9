"""Refusals of an adapter host, and errors that stop it from starting::

SplitError
├── WrongLength, LengthRequired, MalformedKey, MalformedCiphertext
├── KeyMissing, KeyConflict, QueryConflict
├── BudgetExhausted
├── WorkerLost
└── WorkersSpent
ServerError
├── HostUnusable
└── HostStateUnusable
"""

from __future__ import annotations

import math

from split_server.errors import ServerError
from split_wire.errors import SplitError


class HostUnusable(ServerError):
    """The workers do not start."""

    code = "adapter_host_unusable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the adapter host cannot start: {reason}")


class HostStateUnusable(ServerError):
    """The file with the spent queries is damaged, held by another host, or cannot be written."""

    code = "adapter_host_state_unusable"

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}; it counts the queries that were spent, so the host does not start "
            "without it"
        )


class WrongLength(SplitError):
    """A body of another length than the adapter's shape has (sizes in bytes)."""

    code = "wrong_length"

    def __init__(self, size: int, wanted: int) -> None:
        self.size, self.wanted = size, wanted
        # What was not read ends the connection.
        self.status = 413 if size > wanted else 400
        super().__init__(f"the body has {size} bytes where exactly {wanted} are needed")


class LengthRequired(SplitError):
    """A body that does not say how long it is."""

    code = "length_required"
    status = 411

    def __init__(self) -> None:
        super().__init__("send the body with a Content-Length, not in chunks")


class MalformedKey(SplitError):
    """Bytes that are no public key of this scheme's fixed parameters."""

    code = "malformed_key"

    def __init__(self) -> None:
        super().__init__("these bytes are no public key; see docs/ckks.md for the format")


class MalformedCiphertext(SplitError):
    """Bytes that are no query of this scheme's fixed parameters; it spent nothing."""

    code = "malformed_ciphertext"

    def __init__(self) -> None:
        super().__init__("these bytes are no encrypted query; see docs/ckks.md for the format")


class KeyMissing(SplitError):
    """A query in a session whose key has not arrived."""

    code = "key_missing"
    status = 409

    def __init__(self) -> None:
        super().__init__("this session has no key yet; send the public key first")


class KeyConflict(SplitError):
    """A second, different key for a session."""

    code = "key_conflict"
    status = 409

    def __init__(self) -> None:
        super().__init__("this session has another key; open a new session for a new key")


class QueryConflict(SplitError):
    """A query number that was used with other bytes, or is not the next one."""

    code = "query_conflict"
    status = 409

    def __init__(self, number: int, expected: int) -> None:
        super().__init__(
            f"query {number} conflicts: the next one is {expected}, and a repeated query must "
            "repeat its bytes; open a new session"
        )


class BudgetExhausted(SplitError):
    """A principal has spent its queries of one adapter. They do not come back by themselves."""

    code = "budget_exhausted"
    status = 403

    def __init__(self, adapter: str, limit: int) -> None:
        super().__init__(
            f"all {limit} queries of adapter {adapter[:40]!r} for this token are spent and 0 "
            "remain; they come back only when the host's operator raises --query-budget or "
            "clears the count"
        )


class WorkerLost(SplitError):
    """The process that computed ended before its answer; a new one takes its place.

    ``under_way``: whether this very job was being computed, not only waiting.
    """

    code = "worker_lost"
    status = 503
    retryable = True

    def __init__(self, retry_after: float = 0.2, *, under_way: bool = True) -> None:
        self.retry_after = retry_after
        self.under_way = under_way
        super().__init__(
            "the process that computed this was lost and is being replaced; nothing was spent: "
            "send the same again"
        )


class WorkersSpent(SplitError):
    """A principal whose queries cost one worker after the other; it may come back later."""

    code = "workers_spent"
    status = 429
    retryable = True

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(
            "queries with this token ended one worker process after the other; nothing was spent: "
            f"try again in {math.ceil(retry_after)} s"
        )
