"""Checkpoints as AWQ and GPTQ write them, made from plain ones: the other side of the reader.

The layouts are those of AutoGPTQ (https://github.com/AutoGPTQ/AutoGPTQ, ``QuantLinear.pack``) and
AutoAWQ (https://github.com/casper-hansen/AutoAWQ, ``WQLinear_GEMM.from_linear``), and what
transformers documents of both (https://huggingface.co/docs/transformers/quantization/gptq and
/awq). Values are packed a word at a time here, with whole numbers of Python.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
_LINEAR = "_proj.weight"


@dataclass
class Kind:
    """``method``: awq or gptq; ``offset``: what a stored zero point lacks; ``shuffled``: columns
    belong to groups in no order; ``symmetric``: every zero point is 8.
    """

    method: str
    group: int
    offset: int = 0
    shuffled: bool = False
    symmetric: bool = False
    config: dict[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """``quantization_config``."""
        found = {"quant_method": self.method, "bits": 4, "group_size": self.group}
        if self.method == "awq":
            return found | {"zero_point": True, "version": "gemm"} | self.config
        stored = "gptq" if self.offset else "gptq_v2"
        more = {"desc_act": self.shuffled, "sym": self.symmetric, "checkpoint_format": stored}
        return found | more | self.config


AWQ = Kind("awq", 32)
GPTQ = Kind("gptq", 32, offset=1)


def grouped_checkpoint(source: Path, path: Path, kind: Kind, dense: Path | None = None) -> Path:
    """Write ``source`` with its linear layers quantized to ``path``; to ``dense`` what they then
    stand for, as plain float32.
    """
    rng = np.random.default_rng(0)
    tensors = load_file(source / "model.safetensors")
    packed: dict[str, torch.Tensor] = {}
    plain: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(_LINEAR):
            parts, weight = quantized(tensor.double().numpy(), kind, rng)
            layer = name.removesuffix(".weight")
            packed |= {f"{layer}.{part}": torch.from_numpy(one) for part, one in parts.items()}
            plain[name] = torch.from_numpy(weight).float()
        else:
            packed[name] = plain[name] = tensor
    _write(source, path, packed, {"quantization_config": kind.fields()})
    if dense is not None:
        _write(source, dense, plain, {})
    return path


def quantized(
    weight: np.ndarray, kind: Kind, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The tensors of a matrix [out, in], and the float64 matrix that they stand for."""
    rows, columns = weight.shape
    size = columns if kind.group == -1 else kind.group
    groups = np.arange(columns) // size
    if kind.shuffled:
        groups = rng.permutation(groups)
    count = columns // size
    scales = np.empty((count, rows), np.float16)
    points = np.empty((count, rows), np.int64)
    values = np.empty((columns, rows), np.int64)
    for group in range(count):
        mine = weight[:, groups == group]
        low, high = np.minimum(mine.min(axis=1), 0), np.maximum(mine.max(axis=1), 0)
        if kind.symmetric:
            high = np.maximum(np.abs(low), high)
            low = -high
        scales[group] = np.maximum((high - low) / 15, 1e-4)
        scale = scales[group].astype(np.float64)
        points[group] = 8 if kind.symmetric else np.clip(np.round(-low / scale), kind.offset, 15)
        found = np.round(mine / scale[:, None]) + points[group][:, None]
        values[groups == group] = np.clip(found, 0, 15).T
    exact = (values - points[groups]) * scales[groups].astype(np.float64)
    order = _AWQ_ORDER if kind.method == "awq" else tuple(range(8))
    parts = {
        "qweight": _words(values, order) if kind.method == "awq" else _words(values.T, order).T,
        "qzeros": _words(points - kind.offset, order),
        "scales": scales,
    }
    if kind.method == "gptq":
        parts["g_idx"] = groups.astype(np.int32)
    return {name: np.ascontiguousarray(part) for name, part in parts.items()}, exact.T.copy()


def _words(values: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """int32 [n, m / 8] of values [n, m]: the one at ``order[i]`` of eight is the i-th of a word."""
    found = np.empty((values.shape[0], values.shape[1] // 8), np.uint32)
    for row, line in enumerate(values.tolist()):
        for word in range(len(line) // 8):
            eight = line[8 * word : 8 * word + 8]
            found[row, word] = sum(eight[place] << (4 * index) for index, place in enumerate(order))
    return found.view(np.int32)


def _write(
    source: Path, path: Path, tensors: dict[str, torch.Tensor], more: dict[str, Any]
) -> None:
    shutil.copytree(source, path, ignore=shutil.ignore_patterns("*.safetensors"))
    config = json.loads((path / "config.json").read_text()) | more
    (path / "config.json").write_text(json.dumps(config))
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        path / "model.safetensors",
        metadata={"format": "pt"},
    )
