"""What a server has no room or time for, and its own faults."""

from __future__ import annotations

from split_wire.errors.base import SplitError


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


class ModelLoading(SplitError):
    """The model is being loaded; ``retry_after``: seconds until it probably is."""

    code = "model_loading"
    status = 503
    retryable = True

    def __init__(self, name: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(
            f"model {name[:64]!r} is being loaded; try again in about {max(1, retry_after):.0f} s"
        )


class ModelBusy(SplitError):
    """A model that cannot be loaded, or let go, as things are; ``reason``: what stands against it,
    and what holds the memory.
    """

    code = "model_busy"
    status = 503
    retryable = True

    def __init__(self, name: str, reason: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"model {name[:64]!r}: {reason}; try again in {max(1, retry_after):.0f} s")


class ModelUnusable(SplitError):
    """What lies on the server's disk is no model that it can load; its log has the reason."""

    code = "model_unusable"
    status = 500

    def __init__(self, name: str) -> None:
        super().__init__(
            f"model {name[:64]!r} cannot be loaded as it is: the server's log has the reason, for "
            "whoever runs the server; use another model"
        )


class ShuttingDown(SplitError):
    """The server is stopping, or the model that was asked is let go."""

    code = "shutting_down"
    status = 503
    retryable = True

    def __init__(self) -> None:
        super().__init__("the server, or the model in it, is shutting down; ask again in a while")


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


class InternalError(SplitError):
    """The server failed; its log has the reason under the reference."""

    code = "internal_error"
    status = 500

    def __init__(self, reference: str) -> None:
        super().__init__(f"the server failed (reference {reference}); open a new session")
