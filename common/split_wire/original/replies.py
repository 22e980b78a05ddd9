"""Replies of the original protocol: text (JSON) and binary.

The binary form is that of ``requests``, its JSON padded with spaces so that the rows start at a
multiple of four bytes, where a Float32Array view may begin. An error is text in either form.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_wire.errors import SplitError
from split_wire.messages import MAX_MESSAGE_TEXT
from split_wire.original.requests import Spelling

_LENGTH = struct.Struct("<I")
_ALIGNMENT = 4
_HASHED_VALUES = 8


@dataclass(frozen=True, slots=True)
class Encrypted:
    """Milliseconds that an adapter took under encryption."""

    encrypt_ms: float
    compute_ms: float
    decrypt_ms: float


@dataclass(frozen=True, slots=True)
class ForwardReply:
    """``hidden`` [n or 1, H] f32; ``cached_before``: positions cached before the request.

    ``compute_ms``: of the model. ``adapter``: the one that was applied. ``encrypted``: None where
    nothing was, for the reason ``he_reason``. ``dp_sigma``: of noise on what went into the adapter.
    """

    hidden: NDArray[np.float32]
    incremental: bool
    cached_before: int
    layers: int
    compute_ms: float
    total_ms: float
    adapter: str | None = None
    encrypted: Encrypted | None = None
    he_reason: str | None = None
    dp_sigma: float = 0.0

    def encode(self, spelling: Spelling) -> str | bytes:
        """The answer to a request in the form ``spelling``: bytes for binary, else text."""
        rows = np.ascontiguousarray(self.hidden, "<f4").tobytes()
        if spelling == "binary":
            return _binary(self._describe("result"), rows)
        encoded = base64.b64encode(rows).decode("ascii")
        if spelling == "hidden_states_b64":
            return json.dumps(self._describe("result") | {"pre_activations_b64": encoded})
        return json.dumps(self._describe("forward") | {"pre_activations": encoded})

    def _describe(self, kind: str) -> dict[str, Any]:
        done = self.encrypted or Encrypted(0, 0, 0)
        return {
            "type": kind,
            "seq_len": self.hidden.shape[0],
            "hidden_dim": self.hidden.shape[1],
            "adapter": self.adapter,
            "he_active": self.encrypted is not None,
            "he_reason": self.he_reason,
            "encrypt_ms": round(done.encrypt_ms, 3),
            "compute_ms": round(self.compute_ms + done.compute_ms, 3),
            "he_compute_ms": round(done.compute_ms, 3),
            "decrypt_ms": round(done.decrypt_ms, 3),
            "total_ms": round(self.total_ms, 3),
            "dp_sigma": self.dp_sigma,
            "incremental": self.incremental,
            "cached_seq_len": self.cached_before,
            "layers_computed": self.layers,
        }


def _binary(description: Mapping[str, Any], rows: bytes) -> bytes:
    text = json.dumps(description).encode("utf-8")
    text += b" " * (-(_LENGTH.size + len(text)) % _ALIGNMENT)
    return _LENGTH.pack(len(text)) + text + rows


def config(
    model: str,
    hidden_size: int,
    vocab_size: int,
    num_layers: int,
    eos_token_ids: Sequence[int],
    expert_keywords: Mapping[str, Sequence[str]],
    *,
    he_active: bool = False,
    dp_sigma: float = 0.0,
    dp_epsilon: float = 0.0,
) -> dict[str, Any]:
    """The served model's configuration. ``vocab_size``: rows of the embedding table.

    ``he_active``: whether adapters run under encryption, as a rule; ``dp_sigma`` and
    ``dp_epsilon``: of noise that the server adds to what goes into an adapter.

    No noise is written as 0, because clients take null for their default of epsilon 1. Without
    noise ``dp_sensitivity`` bounds nothing; some clients clip rows to it all the same, so it is the
    largest norm that a row of 16-bit floats can have.
    """
    largest_f16 = float(np.finfo(np.float16).max)
    return {
        "model": model,
        "hidden_dim": hidden_size,
        "vocab_size": vocab_size,
        "num_layers": num_layers,
        "eos_token_ids": list(eos_token_ids),
        "he_active": he_active,
        "dp_sigma": dp_sigma,
        "client_dp_sigma": 0.0,
        "dp_epsilon": dp_epsilon,
        "dp_sensitivity": largest_f16 * float(np.sqrt(hidden_size)),
        "expert_keywords": {name: list(words) for name, words in expert_keywords.items()},
    }


def token_ids(ids: Sequence[int]) -> dict[str, Any]:
    """Answer to a tokenize request."""
    return {"token_ids": list(ids), "length": len(ids)}


def verification(
    ids: Sequence[int], first_row: NDArray[np.float32] | None, vocab_size: int, hidden_size: int
) -> dict[str, Any]:
    """Answer to a probe: ``first_row`` [H] is the embedding of ``ids[0]``, None without ids."""
    return {
        "token_ids": list(ids),
        "embed_hash": 0 if first_row is None else embedding_hash(first_row),
        "vocab_size": vocab_size,
        "hidden_dim": hidden_size,
        "status": "empty" if first_row is None else "ok",
    }


def embedding_hash(row: NDArray[np.float32]) -> int:
    """The sum of the first eight values of ``row`` [H], each times 10,000 and rounded."""
    return sum(round(10_000 * float(value)) for value in row[:_HASHED_VALUES])


def error_fields(error: SplitError) -> dict[str, Any]:
    """``code``, ``message``, ``retryable`` and, where there is one, ``retry_after`` in seconds."""
    fields: dict[str, Any] = {
        "code": error.code,
        "message": str(error)[:MAX_MESSAGE_TEXT],
        "retryable": error.retryable,
    }
    if error.retry_after is not None:
        fields["retry_after"] = error.retry_after
    return fields


def error_message(error: SplitError) -> str:
    """The WebSocket message that carries ``error``."""
    return json.dumps({"type": "error"} | error_fields(error))
