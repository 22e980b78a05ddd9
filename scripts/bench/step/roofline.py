"""The bytes that a decode step must read.

A step of one session does two operations per weight, so memory bounds it (roofline model: Williams
et al. 2009): every matrix and the session's cache are read once.
"""

from __future__ import annotations

_ITEM_BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}


def step_bytes(matrix_values: int, kind: str, cache_bytes: int, context: int) -> int:
    """Bytes that a step of one session reads; ``kind``: the dtype of the matrices,
    ``cache_bytes``: of one position.
    """
    return matrix_values * _ITEM_BYTES[kind] + cache_bytes * context
