"""The rows by name, in the order of the page; each module measures one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from scripts.real.figures import Figures
from scripts.real.rows import (
    attention,
    bfloat16,
    chunks,
    drafts,
    embeddings,
    equality,
    forced,
    heads,
    kv,
    noise,
    quantized,
    reuse,
    speed,
)
from scripts.real.setting import Setting

Measure: TypeAlias = Callable[[Setting], Figures]

ROWS: dict[str, Measure] = {
    "equality": equality.measure,
    "bfloat16": bfloat16.measure,
    "heads": heads.measure,
    "int8": quantized.measure,
    "time": speed.measure,
    "attention": attention.measure,
    "noise": noise.measure,
    "drafts": drafts.measure,
    "forced": forced.measure,
    "kv": kv.measure,
    "reuse": reuse.measure,
    "chunks": chunks.measure,
    "embeddings": embeddings.measure,
}
