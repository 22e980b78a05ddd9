"""Steps that do not fit to what their session holds."""

from __future__ import annotations

from split_wire.errors.base import SplitError


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


class SpansRefused(SplitError):
    """Positions that may not be hidden, or are not there."""

    code = "spans_refused"
    status = 409

    def __init__(self, reason: str) -> None:
        super().__init__(f"these positions cannot be hidden or shown: {reason}; name others")


class ChunkGone(SplitError):
    """A chunk whose rows are wanted is not kept any more."""

    code = "chunk_gone"
    status = 409

    def __init__(self) -> None:
        super().__init__("a chunk is not kept any more; ask again, or send its rows")


class ModelChanged(SplitError):
    """The server serves another model than the one the device holds the ends of."""

    code = "model_changed"
    status = 409

    def __init__(self) -> None:
        super().__init__(
            "the server serves another model now; pull its weights and start a new chat"
        )
