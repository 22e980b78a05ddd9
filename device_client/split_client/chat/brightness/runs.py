"""The brightness of a message as it is kept: by code point, so that it hangs on no tokenizer.

Runs of code points of one brightness, each as two numbers of 16 bits, little endian: how many, and
their brightness; in base64. A token's code points have its brightness. A message without any is as
bright as it began.
"""

from __future__ import annotations

import binascii
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import BORN

_LONGEST: Final = 0xFFFF


def kept(values: NDArray[np.int64]) -> str:
    """The text that keeps the brightness of each code point; "" where all are as they began."""
    if not len(values) or bool((values == BORN).all()):
        return ""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    runs = list[tuple[int, int]]()
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(values)], strict=True):
        for begun in range(start, stop, _LONGEST):
            runs.append((min(_LONGEST, stop - begun), int(values[start])))
    return binascii.b2a_base64(np.array(runs, "<u2").tobytes(), newline=False).decode("ascii")


def values_in(text: str, length: int) -> NDArray[np.int64]:
    """Of each of ``length`` code points.

    Raises BrightnessInvalid where ``text`` does not keep those of so many.
    """
    if not text:
        return np.full(length, BORN, np.int64)
    runs = _runs(text, length)
    counts = runs[:, 0].astype(np.int64)
    if not bool((counts > 0).all()) or int(counts.sum()) != length:
        raise BrightnessInvalid(f"brightness is of other than the {length:,} characters there are")
    return np.repeat(runs[:, 1].astype(np.int64), counts)


def _runs(text: str, length: int) -> NDArray[np.uint16]:
    # Four bytes a run, of which there are no more than code points.
    if len(text) > (4 * length + 2) // 3 * 4:
        raise BrightnessInvalid(f"brightness is of more than the {length:,} characters there are")
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise BrightnessInvalid("brightness is kept as runs of 16-bit numbers in base64") from error
    if len(data) % 4:
        raise BrightnessInvalid("brightness is kept as pairs of 16-bit numbers in base64")
    return np.frombuffer(data, "<u2").reshape(-1, 2)


def part_of(values: NDArray[np.int64], start: int, stop: int) -> int:
    """The brightness of the part from code point ``start`` to ``stop``: the mean of its brightest
    quarter, one code point at least, rounded down. 0 for no code point.
    """
    brightest = np.sort(values[start:stop])[::-1][: max(1, (stop - start) // 4)]
    return int(brightest.sum()) // max(1, len(brightest))


def amended(text: str, before: str, after: str) -> str:
    """``text`` of a message that said ``before`` and says ``after``: the beginning that both have
    keeps its brightness.
    """
    if not text:
        return ""
    same = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    values = np.full(len(after), BORN, np.int64)
    values[:same] = values_in(text, len(before))[:same]
    return kept(values)
