"""The forms in which a Kobold client gets the attention of a token.

The weights are the softmax rows of the position that the token was chosen from, over the prompt and
the tokens before it. L layers, H heads, C positions of context:

- ``per_layer``: every weight, [L, H, C];
- ``aggregated``: mean or maximum over layers and heads, [C];
- ``sparse``: the ``top_k`` positions with the largest mean over layers and heads, each with its
  mean over the heads of every layer, [K] and [K, L];
- ``viz``: per layer the mean and the largest weight over heads and positions, and entropies in nats
  of the mean over the heads of a layer and of the mean over everything.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_server.compat.kobold.fields import Fields
from split_wire.attention import MAX_TOP_K, AttentionRequest, AttentionWeights

Format: TypeAlias = Literal["per_layer", "aggregated", "sparse", "viz"]
Mode: TypeAlias = Literal["mean", "max"]
FORMATS: tuple[Format, ...] = ("per_layer", "aggregated", "sparse", "viz")
MODES: tuple[Mode, ...] = ("mean", "max")
DTYPES: tuple[Literal["float32", "float16"], ...] = ("float32", "float16")
DEFAULT_TOP_K = 50


@dataclass(frozen=True, slots=True)
class AttentionOptions:
    """A client's wishes for its rows; ``half`` rounds them to float16."""

    format: Format = "per_layer"
    mode: Mode = "mean"
    top_k: int = DEFAULT_TOP_K
    half: bool = False

    def request(self) -> AttentionRequest:
        """The request to the engine: it reduces over heads where it computes the rows."""
        match self.format:
            case "aggregated":
                return AttentionRequest(self.mode)
            case "sparse":
                return AttentionRequest("mean")
            case "per_layer" | "viz":
                return AttentionRequest()

    def document_bytes(self, layers: int, heads: int, context: int) -> int:
        """About how many bytes one token's attention has in JSON."""
        item = 2 if self.half else 4
        match self.format:
            case "per_layer":
                return 4 * -(-layers * heads * context * item // 3)
            case "aggregated":
                return 24 * context
            case "sparse":
                return 24 * min(self.top_k, context) * (layers + 2)
            case "viz":
                return 24 * 3 * layers


def attention_options(fields: Fields) -> AttentionOptions:
    """Read the fields. Raises InvalidParameter."""
    return AttentionOptions(
        format=fields.choice(FORMATS, "attention_format") or "per_layer",
        mode=fields.choice(MODES, "aggregation_mode") or "mean",
        top_k=fields.whole(1, MAX_TOP_K, "attention_top_k") or DEFAULT_TOP_K,
        half=fields.choice(DTYPES, "attention_dtype") == "float16",
    )


def binary_rows(options: AttentionOptions, weights: AttentionWeights) -> memoryview:
    """The weights as one little-endian binary frame.

    ``per_layer`` [L, H, C] without a copy in float32; ``aggregated`` [C]; ``sparse`` int32 [K]
    positions and then [K, L]; ``viz`` mean [L], maximum [L], entropy [L], and the entropy of all.
    """
    dtype = "<f2" if options.half else "<f4"
    match options.format:
        case "per_layer":
            return _raw(weights.values, dtype)
        case "aggregated":
            return _raw(aggregated(weights.values, options.mode), dtype)
        case "sparse":
            positions, chosen = sparse(weights.values, options.top_k)
            return memoryview(positions.astype("<i4").tobytes() + chosen.astype(dtype).tobytes())
        case "viz":
            shown = visual(weights.values)
            overall = np.array([shown.entropy])
            numbers = (shown.mean, shown.largest, shown.entropies, overall)
            return _raw(np.concatenate(numbers), dtype)


def json_rows(options: AttentionOptions, weights: AttentionWeights) -> bytes:
    """The weights as a JSON object; ``per_layer`` rows are base64 in it."""
    values = weights.values
    if options.format == "per_layer":
        return _per_layer(options, values)
    document: dict[str, Any] = {"format": options.format, "context_length": values.shape[-1]}
    return json.dumps(document | _reduced(options, values)).encode()


def _per_layer(options: AttentionOptions, values: NDArray[np.float32]) -> bytes:
    document = {
        "format": "per_layer",
        "shape": list(values.shape),
        "context_length": values.shape[-1],
        "encoding": "base64",
        "dtype": "float16" if options.half else "float32",
    }
    head = json.dumps(document)[:-1].encode()
    data = base64.b64encode(_raw(values, "<f2" if options.half else "<f4"))
    return b"".join((head, b', "data": "', data, b'"}'))


def _reduced(options: AttentionOptions, values: NDArray[np.float32]) -> dict[str, Any]:
    rounded = np.float16 if options.half else np.float32
    if options.format == "aggregated":
        row = aggregated(values, options.mode).astype(rounded)
        return {"aggregation_mode": options.mode, "shape": [row.size], "data": row.tolist()}
    if options.format == "sparse":
        positions, rows = sparse(values, options.top_k)
        told = zip(positions.tolist(), rows.astype(rounded).tolist(), strict=True)
        data = [{"position": position, "layers": layers} for position, layers in told]
        return {"top_k": len(data), "data": data}
    shown = visual(values)
    return {
        "mean_by_layer": shown.mean.tolist(),
        "max_by_layer": shown.largest.tolist(),
        "entropy_by_layer": shown.entropies.tolist(),
        "entropy": float(shown.entropy),
    }


def aggregated(values: NDArray[np.float32], mode: Mode) -> NDArray[np.float32]:
    """[C] of ``values`` [L, heads or 1, C]: means over equally many heads, or maxima."""
    rows: NDArray[np.float32]
    rows = values.max((0, 1)) if mode == "max" else values.mean((0, 1), dtype=np.float64)
    return rows.astype(np.float32, copy=False)


def sparse(
    values: NDArray[np.float32], top_k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Positions [K], those of the largest mean first, and their weights by layer [K, L].

    values: [L, heads or 1, C]. Of equal means the lower position counts.
    """
    by_layer = values.mean(1, dtype=np.float64)
    order = np.argsort(-by_layer.mean(0), kind="stable")[:top_k]
    return order.astype(np.int32), by_layer[:, order].T.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Visual:
    """Numbers to draw: [L] means and maxima over heads and positions, [L] entropies of the mean
    over heads, and the entropy of the mean over layers and heads; entropies in nats.
    """

    mean: NDArray[np.float32]
    largest: NDArray[np.float32]
    entropies: NDArray[np.float32]
    entropy: np.float32


def visual(values: NDArray[np.float32]) -> Visual:
    """Of ``values`` [L, H, C]."""
    by_layer = values.mean(1, dtype=np.float64)
    return Visual(
        by_layer.mean(-1).astype(np.float32),
        values.max((1, 2)),
        _entropy(by_layer).astype(np.float32),
        np.float32(_entropy(by_layer.mean(0))),
    )


def _entropy(rows: NDArray[np.float64]) -> Any:
    """-sum p ln p over the last axis, with 0 ln 0 = 0."""
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    return -(rows * logs).sum(-1)


def _raw(values: NDArray[Any], dtype: str) -> memoryview:
    """The bytes of ``values``; contiguous values that have ``dtype`` already are not copied."""
    return np.ascontiguousarray(values, dtype).data.cast("B")
