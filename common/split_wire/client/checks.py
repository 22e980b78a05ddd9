"""A step before it is sent, and its answer before it is believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionWeights
from split_wire.attention_check import checked_weights
from split_wire.errors import (
    ContextOverflow,
    MalformedMessage,
    TooManyRows,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Opened, Result, Step


def check_rows(hidden_size: int, opened: Opened, start: int, rows: NDArray[np.float32]) -> None:
    """Raise WrongShape, WrongHiddenSize, TooManyRows or ContextOverflow for ``rows`` that a session
    does not take behind ``start``; they should be [n, ``hidden_size``].
    """
    if rows.ndim != 2 or rows.shape[0] < 1:
        raise WrongShape(rows.shape, f"[at least one row, {hidden_size}]")
    if rows.shape[1] != hidden_size:
        raise WrongHiddenSize(rows.shape[1], hidden_size)
    if rows.shape[0] > opened.max_rows:
        raise TooManyRows(rows.shape[0], opened.max_rows)
    if start + rows.shape[0] > opened.max_context:
        raise ContextOverflow(start + rows.shape[0], opened.max_context)


def checked_hidden(hidden_size: int, message: Result, step: Step) -> NDArray[np.float32]:
    """The hidden states that answer ``step``, float32 [rows asked for, H], read-only.

    Raises WrongHiddenSize, WrongShape, MalformedMessage, NonFinite.
    """
    wanted = step.returned
    if message.hidden.width != hidden_size:
        raise WrongHiddenSize(message.hidden.width, hidden_size)
    if message.hidden.rows != wanted:
        raise WrongShape(message.hidden.shape, f"[{wanted}, {hidden_size}]")
    if message.cached != step.end:
        raise MalformedMessage("'cached' is not the number of positions sent")
    message.hidden.require_finite()
    hidden = message.hidden.to_f32()
    hidden.flags.writeable = False
    return hidden


def checked_attention(message: Result, step: Step, opened: Opened) -> AttentionWeights | None:
    """The attention that answers ``step``, None where it asked for none. Raises MalformedMessage
    and what is wrong with its tensors.
    """
    if step.attention is None:
        return None
    return checked_weights(
        message.attention, step.attention, opened.layers, opened.heads, message.cached
    )
