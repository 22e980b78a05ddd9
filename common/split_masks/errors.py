"""Errors of one-time masks, one tree under :class:`MasksError`.

Each class has a stable ``code``::

    MasksError
    ├── MalformedNumbers, MalformedRange     (what a peer sent)
    ├── MatrixUnfit                          (an adapter that masks cannot serve)
    ├── RangeTaken                           (numbers that this file has seen before)
    └── RangesUnusable                       (the file itself)
        ├── RangesDamaged                    (not what this program writes)
        ├── RangesBusy                       (another process keeps the lock)
        └── RangesFull                       (too many names)
"""

from __future__ import annotations

from pathlib import Path


class MasksError(Exception):
    """Base of the tree."""

    code: str = "masks_error"


class MalformedNumbers(MasksError):
    """A masked state or its product that is not exactly so many numbers below Q."""

    code = "malformed_mask"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed masked numbers: {reason}")


class MalformedRange(MasksError):
    """A range of numbers that contradicts itself."""

    code = "malformed_range"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed range of masks: {reason}")


class MatrixUnfit(MasksError):
    """A matrix whose products the arithmetic could not follow."""

    code = "matrix_unfit"

    def __init__(self) -> None:
        super().__init__("the rows of this adapter are too large for one-time masks")


class RangeTaken(MasksError):
    """Numbers at or below one that was taken before: somebody's file was turned back."""

    code = "mask_range_taken"

    def __init__(self, first: int, free: int) -> None:
        super().__init__(
            f"masks from number {first} were handed out before, {free} is the first that was not; "
            "the host's file of numbers was turned back"
        )


class RangesUnusable(MasksError):
    """The file of numbers cannot be read or written."""

    code = "mask_ranges_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class RangesDamaged(RangesUnusable):
    """Not what this program writes; it stays as it is."""

    code = "mask_ranges_damaged"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, f"{reason}; remove it, and numbers begin anew under another name")


class RangesBusy(RangesUnusable):
    """Another process keeps the lock."""

    code = "mask_ranges_busy"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "another process keeps it locked; end that process")


class RangesFull(RangesUnusable):
    """More names than a file keeps."""

    code = "mask_ranges_full"

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path, f"it keeps the numbers of {most} names and has no room for another")
