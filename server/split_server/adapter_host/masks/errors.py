"""Refusals of one-time masks, a branch of the host's tree::

SplitError
├── MaskUsed, MaskLost, MaskForeign
├── MaskConflict
├── MalformedMask
├── TooManyMasks
└── MasksUnavailable

After each of them the device goes on with encrypted queries.
"""

from __future__ import annotations

from split_wire.errors import SplitError


class MaskUsed(SplitError):
    """A second state under a mask; what is sent again must repeat its bytes."""

    code = "mask_used"
    status = 409

    def __init__(self, number: int) -> None:
        super().__init__(
            f"mask {number} was used; a mask serves one state: send the next as a query"
        )


class MaskLost(SplitError):
    """A number that was handed out and whose mask is not there: its session or host ended."""

    code = "mask_lost"
    status = 409

    def __init__(self, number: int) -> None:
        super().__init__(
            f"mask {number} is not there: it was never made, or its session ended, or the host "
            "was started again; send the state as a query"
        )


class MaskForeign(SplitError):
    """A number of another session, or one that nobody was given."""

    code = "mask_foreign"
    status = 409

    def __init__(self, number: int) -> None:
        super().__init__(f"mask {number} is none of this session's; send the state as a query")


class MaskConflict(SplitError):
    """A range or a mask that is asked for out of its order, or again with other bytes."""

    code = "mask_conflict"
    status = 409

    def __init__(self, what: str, number: int, expected: int) -> None:
        super().__init__(
            f"{what} {number} conflicts: the next one is {expected}, and what is sent again must "
            "repeat its bytes"
        )


class MalformedMask(SplitError):
    """Bytes that are no masked state, or no request for a range."""

    code = "malformed_mask"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; see docs/masks.md for the format")


class TooManyMasks(SplitError):
    """A principal that holds as many masks as it may, or a host that holds all that it may."""

    code = "too_many_masks"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"all {limit} one-time masks that may be held are there; use them, or end sessions"
        )


class MasksUnavailable(SplitError):
    """A host that makes none, or cannot write down which it hands out."""

    code = "masks_unavailable"
    status = 503

    def __init__(self) -> None:
        super().__init__("this host makes no one-time masks now; send states as queries")
