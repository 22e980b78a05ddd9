"""Every error that can travel between device and server, one tree under :class:`SplitError`.

Each class has a stable ``code`` (what programs compare), a message that says what to do,
``retryable`` (whether the same request may succeed later, unchanged) and the HTTP ``status`` it is
answered with::

    SplitError
    ├── MalformedFrame, FrameTooLarge, MalformedMessage, UnknownMessage, UnsupportedVersion
    ├── WrongDtype, WrongShape, WrongHiddenSize, NonFinite, HiddenOverflow, TooManyRows
    ├── AttentionTooLarge
    ├── UnknownSession, StepConflict, PrefixMismatch, StartBeyondCache, ContextOverflow
    ├── ModelChanged, TooManySessions, CacheFull, Overloaded, ShuttingDown, ModelStopped
    ├── UnknownAdapter, UnknownCacheGroup, Unsupported, Unauthorized, ForbiddenOrigin, ForbiddenHost
    ├── TokenizeDisabled, NotFound
    ├── InternalError
    └── RemoteError (any of them, as the device received it)
"""

from __future__ import annotations


class SplitError(Exception):
    """Base of the tree. ``retry_after`` is in seconds, None when the server names no delay."""

    code: str = "internal_error"
    status: int = 400
    retryable: bool = False
    retry_after: float | None = None


class MalformedFrame(SplitError):
    """Bytes that are not a frame: wrong magic, cut short, or with bytes left over."""

    code = "malformed_frame"

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a split.v1 frame: {reason}; send the frame again, whole")


class FrameTooLarge(SplitError):
    """A frame or body longer than the receiver accepts (sizes in bytes)."""

    code = "frame_too_large"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            f"frame of {size} bytes exceeds the limit of {limit} bytes; send fewer rows in one step"
        )


class MalformedMessage(SplitError):
    """A well-framed message with a missing or ill-typed field."""

    code = "malformed_message"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed message: {reason}")


class UnknownMessage(SplitError):
    """A message type that the receiver does not know."""

    code = "unknown_message"

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown message type {kind[:40]!r}; see docs/protocol.md for the types")


class UnsupportedVersion(SplitError):
    """Another wire version than ours."""

    code = "unsupported_version"

    def __init__(self, version: int, supported: int) -> None:
        super().__init__(f"wire version {version} is not supported, this server speaks {supported}")


class WrongDtype(SplitError):
    """A tensor dtype that the wire does not carry."""

    code = "wrong_dtype"

    def __init__(self, dtype: str) -> None:
        super().__init__(f"dtype {dtype[:20]!r} is not one of f32, f16, bf16, i8")


class WrongShape(SplitError):
    """A tensor whose shape is not what the message needs."""

    code = "wrong_shape"

    def __init__(self, shape: tuple[int, ...], wanted: str) -> None:
        super().__init__(f"tensor of shape {list(shape)} where {wanted} is needed")


class WrongHiddenSize(SplitError):
    """Rows of another width than the model's."""

    code = "wrong_hidden_size"

    def __init__(self, got: int, wanted: int) -> None:
        super().__init__(
            f"rows are {got} wide, this model's hidden size is {wanted}; pull the weights again"
        )


class NonFinite(SplitError):
    """A tensor with NaN or infinite values."""

    code = "non_finite"

    def __init__(self) -> None:
        super().__init__("the tensor holds NaN or infinite values; nothing was cached")


class HiddenOverflow(SplitError):
    """Hidden states beyond the range of the dtype that they are computed or travel in."""

    code = "hidden_overflow"
    status = 500

    def __init__(self) -> None:
        super().__init__(
            "the model's hidden states overflow their dtype; nothing was cached: "
            "open the session with dtype f32, or start the server with --dtype float32"
        )


class TooManyRows(SplitError):
    """More rows in one step than the limit."""

    code = "too_many_rows"

    def __init__(self, rows: int, limit: int) -> None:
        super().__init__(f"{rows} rows in one step exceed the limit of {limit}; send several steps")


class AttentionTooLarge(SplitError):
    """More attention than one answer may carry (sizes in bytes)."""

    code = "attention_too_large"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            f"{size} bytes of attention exceed the limit of {limit} bytes; "
            "ask for top_k, for the mean or maximum over heads, or for f16"
        )


class UnknownSession(SplitError):
    """No such session for this principal: never opened, closed, evicted, or somebody else's."""

    code = "unknown_session"
    status = 404

    def __init__(self) -> None:
        super().__init__("no such session; open a new one and send the conversation again")


class StepConflict(SplitError):
    """A step number that was used with other bytes, or is not the next one."""

    code = "step_conflict"
    status = 409

    def __init__(self, step: int, expected: int) -> None:
        super().__init__(
            f"step {step} conflicts: the next step is {expected}, "
            "and a repeated step must repeat its bytes; open a new session"
        )


class PrefixMismatch(SplitError):
    """The cache below ``start`` holds other rows than the device believes."""

    code = "prefix_mismatch"
    status = 409

    def __init__(self, start: int) -> None:
        super().__init__(
            f"the {start} cached positions are not those the device believes; send from start 0"
        )


class StartBeyondCache(SplitError):
    """``start`` is larger than the number of cached positions."""

    code = "start_beyond_cache"
    status = 409

    def __init__(self, start: int, cached: int) -> None:
        self.start, self.cached = start, cached
        super().__init__(f"start {start} is beyond the {cached} cached positions; resend from them")


class ContextOverflow(SplitError):
    """The step would need more positions than the model has."""

    code = "context_overflow"
    status = 413

    def __init__(self, needed: int, limit: int) -> None:
        super().__init__(
            f"{needed} positions exceed the context of {limit}; shorten or start a new chat"
        )


class ModelChanged(SplitError):
    """The server serves another model than the one the device holds the ends of."""

    code = "model_changed"
    status = 409

    def __init__(self) -> None:
        super().__init__(
            "the server serves another model now; pull its weights and start a new chat"
        )


class TooManySessions(SplitError):
    """A limit of sessions is reached and no session may make way."""

    code = "too_many_sessions"
    status = 429
    retryable = True

    def __init__(self, limit: int, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(f"all {limit} sessions are in use; close one or try again later")


class CacheFull(SplitError):
    """The step does not fit into memory.

    It would hold ``positions`` cached ones and needs ``needed`` more bytes where ``free`` are;
    ``fits``: the most positions that this session could hold now. ``retry_after`` is given where
    sessions that are in use at the moment hold what is missing.
    """

    code = "cache_full"
    status = 503
    retryable = True

    def __init__(
        self, positions: int, needed: int, free: int, fits: int, retry_after: float | None = None
    ) -> None:
        self.positions, self.needed, self.free, self.fits = positions, needed, max(free, 0), fits
        self.retry_after = retry_after
        super().__init__(
            f"a context of {positions} tokens needs {needed} more bytes of memory and {self.free} "
            f"are free, enough for {fits} tokens; "
            "close a session, shorten the conversation or try again later"
        )

    def later(self, seconds: float) -> CacheFull:
        """The same, where waiting may help."""
        return CacheFull(self.positions, self.needed, self.free, self.fits, seconds)


class Overloaded(SplitError):
    """A queue is full."""

    code = "overloaded"
    status = 503
    retryable = True

    def __init__(self, what: str, retry_after: float = 1.0) -> None:
        self.retry_after = retry_after
        super().__init__(f"{what}; try again in {retry_after:g} s")


class ShuttingDown(SplitError):
    """The server is stopping."""

    code = "shutting_down"
    status = 503
    retryable = True

    def __init__(self) -> None:
        super().__init__("the server is shutting down; reconnect when it is back")


class ModelStopped(SplitError):
    """The model's thread was ended by a fault."""

    code = "model_stopped"
    status = 503
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "the model stopped after a fault; try again in a moment, and if it stays so, have the "
            "server started again"
        )


class UnknownAdapter(SplitError):
    """An adapter name that the server does not serve."""

    code = "unknown_adapter"
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(f"no adapter {name[:40]!r} here; leave the adapter out for the base model")


class UnknownCacheGroup(SplitError):
    """A group that the server does not have, or whose member the principal is not."""

    code = "unknown_cache_group"
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no cache group {name[:40]!r} of yours here; leave cache_group out, or have the "
            "operator name you in kv-groups"
        )


class Unsupported(SplitError):
    """A capability that this server did not announce."""

    code = "unsupported"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not supported by this server; see the capabilities it announced"
        )


class Unauthorized(SplitError):
    """A missing or wrong bearer token."""

    code = "unauthorized"
    status = 401

    def __init__(self) -> None:
        super().__init__("a valid token is needed: send it as 'Authorization: Bearer TOKEN'")


class ForbiddenOrigin(SplitError):
    """A browser page of another origin that is not allowed."""

    code = "forbidden_origin"
    status = 403

    def __init__(self) -> None:
        super().__init__("this origin is not allowed; start the server with --allow-origin URL")


class ForbiddenHost(SplitError):
    """A Host header that names neither this machine nor a configured name (DNS rebinding)."""

    code = "forbidden_host"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "this Host is not served here; start the server with --allow-host NAME, in a container "
            "with SPLIT_SERVER_ALLOW_HOST=NAME"
        )


class TokenizeDisabled(SplitError):
    """Server-side tokenizing is off, because it shows the server the text."""

    code = "tokenize_disabled"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "tokenizing on the server shows it the text and is off; tokenize on the device, "
            "or start the server with --allow-server-tokenize"
        )


class NotFound(SplitError):
    """No such resource."""

    code = "not_found"
    status = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not served here")


class InternalError(SplitError):
    """The server failed; its log has the reason under the reference."""

    code = "internal_error"
    status = 500

    def __init__(self, reference: str) -> None:
        super().__init__(f"the server failed (reference {reference}); open a new session")


class RemoteError(SplitError):
    """An error that a server sent, as the device received it: compare ``code``.

    ``code`` may be one that this version does not know. ``status`` is not transmitted in a frame.
    """

    def __init__(
        self, code: str, message: str, *, retryable: bool, retry_after: float | None = None
    ) -> None:
        self.code = self.remote_code = code
        self.retryable = self.remote_retryable = retryable
        self.retry_after = retry_after
        super().__init__(f"{message} [{code}]")
