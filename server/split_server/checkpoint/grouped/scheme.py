"""How a checkpoint's matrices are quantized, as its config.json says.

The fields are those that transformers documents for GPTQConfig and AwqConfig
(https://huggingface.co/docs/transformers/main_classes/quantization); what they mean for the tensors
is documented by their writers, AutoGPTQ (https://github.com/AutoGPTQ/AutoGPTQ) and AutoAWQ
(https://github.com/casper-hansen/AutoAWQ).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.errors import MalformedCheckpoint, UnsupportedQuantization

_FIELD = "quantization_config"
_BITS = 4
# Columns of a group; -1 stands for the whole row.
_SIZES = (-1, 32, 64, 128, 256, 512, 1024)
# Of AWQ the layout of its GEMM kernels, of GPTQ the zero points of either version.
_AWQ_LAYOUTS = ("gemm",)
_GPTQ_FORMATS = {"gptq": 1, "gptq_v2": 0}


@dataclass(frozen=True, slots=True)
class Scheme:
    """``along_rows``: eight values of a word are of one row of the matrix (GPTQ), not of one column
    (AWQ); ``group``: columns that share a scale, 0: all of a row; ``zero_offset``: added to stored
    zero points; ``ordered``: columns may belong to groups in any order.
    """

    along_rows: bool
    group: int
    zero_offset: int
    ordered: bool


def scheme_of(config: Mapping[str, Any]) -> Scheme | None:
    """The scheme of a config.json, None where its matrices are plain.

    Raises UnsupportedQuantization, MalformedCheckpoint.
    """
    found = config.get(_FIELD)
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise MalformedCheckpoint(f"{_FIELD} of config.json is not an object")
    method = _text(found, "quant_method")
    if method not in ("awq", "gptq"):
        raise UnsupportedQuantization(f"quant_method {method!r}")
    bits = found.get("bits", found.get("w_bit"))
    if not isinstance(bits, int) or bits != _BITS:
        raise UnsupportedQuantization(f"{bits!r:.20} bits")
    group = found.get("group_size", found.get("q_group_size"))
    if not isinstance(group, int) or group not in _SIZES:
        raise UnsupportedQuantization(f"group_size {group!r:.20}")
    return _awq(found, max(group, 0)) if method == "awq" else _gptq(found, max(group, 0))


def _awq(found: Mapping[str, Any], group: int) -> Scheme:
    layout = _text(found, "version", "gemm").lower()
    if layout not in _AWQ_LAYOUTS:
        raise UnsupportedQuantization(f"version {layout!r} of AWQ")
    return Scheme(along_rows=False, group=group, zero_offset=0, ordered=False)


def _gptq(found: Mapping[str, Any], group: int) -> Scheme:
    stored = _text(found, "checkpoint_format", "gptq")
    if stored not in _GPTQ_FORMATS:
        raise UnsupportedQuantization(f"checkpoint_format {stored!r}")
    if found.get("dynamic"):
        raise UnsupportedQuantization("settings of their own for some layers ('dynamic')")
    return Scheme(along_rows=True, group=group, zero_offset=_GPTQ_FORMATS[stored], ordered=True)


def _text(found: Mapping[str, Any], name: str, default: str = "") -> str:
    value = found.get(name, default)
    if not isinstance(value, str):
        raise MalformedCheckpoint(f"{name} in {_FIELD} of config.json is not a text")
    return value[:40]
