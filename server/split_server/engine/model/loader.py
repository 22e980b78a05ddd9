"""Loads the middle of a model.

Decoder layers and final norm, without the embedding table and head.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from split_server.checkpoint.families import family_of
from split_server.checkpoint.folder import EMBEDDED_NAME, Checkpoint
from split_server.engine.model.convert import WIRE_NAMES
from split_server.engine.model.info import ModelInfo, kv_bytes_per_position
from split_server.engine.model.matrices import Matrices, keep_matrices
from split_server.engine.model.module import load_module, own_memory
from split_server.engine.model.packed import LEAST_ROWS, Attends, PackedBatch, Slice
from split_server.engine.model.pages.huge import on_huge_pages
from split_server.engine.model.plan.choice import MODULES, Layers, arrange_layers
from split_server.engine.model.streaming import LayersOnDisk, stream_layers, streamed_module
from split_server.engine.model.threads import beside_others, choose_threads
from split_server.engine.streamed.layers import Stream
from split_server.errors import MalformedCheckpoint, UnusableDevice

_log = logging.getLogger(__name__)
_DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


@dataclass(frozen=True)
class Backbone:
    """A loaded middle.

    ``module`` maps inputs_embeds [1, n, H] to final-norm hidden states [1, n, H]. ``parameters``
    have the shapes of the checkpoint's, without values; ``matrices``: how they are kept;
    ``threads``: of one matrix product; ``pages``: what part of them lies on huge pages;
    ``layers``: what computes the decoder layers; ``least_rows``: of a pass; ``stream``: where some
    of them are read from in each pass, None where all are in memory.
    """

    module: Callable[..., Any]
    info: ModelInfo
    dtype: torch.dtype
    device: torch.device
    parameters: tuple[torch.Tensor, ...] = ()
    matrices: Matrices = field(default_factory=Matrices)
    threads: int = 1
    pages: str = "as the system makes them"
    layers: str = MODULES
    least_rows: int = LEAST_ROWS
    stream: Stream | None = None

    @property
    def linears(self) -> str:
        """How the linear layers are kept, in words."""
        return self.matrices.kept

    def packed(self, slices: Sequence[Slice]) -> torch.Tensor:
        """The final-norm hidden states [rows, H] of ``slices``, in one packed pass."""
        # The kernel for four bits takes as long for each row, and rounds none by the others.
        pads = self.matrices.quantized != "int4"
        batch = PackedBatch(slices, self.least_rows, pads=pads)
        hidden = self.hidden(batch.embeddings(), batch.positions(self.device), batch)
        return hidden[: batch.rows]

    def hidden(self, rows: torch.Tensor, positions: torch.Tensor, batch: Attends) -> torch.Tensor:
        """[n, H] of ``rows`` [1, n, H] at ``positions`` [1, n]; ``batch`` attends."""
        passed = self.module(
            inputs_embeds=rows, position_ids=positions, use_cache=False, packed=batch
        )
        hidden: torch.Tensor = passed.last_hidden_state[0]
        return hidden


def load_backbone(
    checkpoint: Checkpoint,
    dtype: str = "auto",
    device: str = "auto",
    *,
    linears: str = "auto",
    quantize: str = "none",
    threads: int = 0,
    layers: str = "auto",
    on_disk: LayersOnDisk | None = None,
) -> Backbone:
    """Load ``checkpoint`` for inference.

    dtype: auto, float32, bfloat16 or float16; auto keeps the checkpoint's, but computes float16 in
    float32 on a CPU. linears: auto, packed or plain (``arrange_linears``, raced with ``threads``,
    0: chosen by size); layers: modules, or auto (``arrange_layers``); quantize: none, int8 or int4,
    with which ``linears`` is about the layers alone, or auto: none, and the ways are raced.
    Matrices that the checkpoint keeps in four bits stay those with int4 and are unpacked otherwise.
    on_disk: layers that are read in each pass, plain or with int8 as that, of a processor.
    Raises UnsupportedFamily, UnusableDevice, MalformedCheckpoint.
    """
    family = family_of(checkpoint.config)
    family.ends(checkpoint.config, checkpoint.tensors)
    target = resolve_device(device)
    compute = resolve_dtype(checkpoint, dtype, target)
    with beside_others():
        if on_disk is None:
            module = load_module(checkpoint, compute)
        else:
            module = streamed_module(checkpoint, compute, on_disk)
    sizes = tuple(parameter.to("meta") for parameter in module.parameters())
    stream = None if on_disk is None else stream_layers(module, on_disk)
    count = choose_threads(sizes, threads)
    # Sums that round matrices depend on the number of threads.
    with beside_others() if quantize == "none" else nullcontext():
        kept = keep_matrices(
            module,
            checkpoint,
            target,
            linears=linears,
            quantize=quantize,
            threads=count,
            merge=layers != MODULES,
        )
    _log.info("linear layers: %s", kept.kept)
    if target.type == "cpu":
        own_memory(module)
    # Whether fewer operations are worth it with four bits has not been measured; matrices that come
    # and go cannot be views of larger ones.
    whole = kept.quantized != "int4" and stream is None
    mode = "plain" if layers == MODULES or not whole else linears
    arranged: Layers = arrange_layers(module, compute, mode, count)
    if target.type == "cuda":
        # Matrices that were merged leave blocks that nothing of the model fits into any more.
        torch.cuda.empty_cache()
    info = model_info(checkpoint, family.name, compute)
    info = replace(info, streamed=0 if stream is None else len(stream.numbers))
    backbone = Backbone(
        module,
        info,
        compute,
        target,
        parameters=sizes,
        matrices=kept,
        threads=count,
        layers=arranged.kind,
        least_rows=arranged.least_rows,
        stream=stream,
    )
    return _on_huge_pages(backbone) if target.type == "cpu" else backbone


def _on_huge_pages(backbone: Backbone) -> Backbone:
    pages = str(on_huge_pages(backbone))
    _log.info("huge pages: %s", pages)
    return replace(backbone, pages=pages)


def resolve_device(name: str) -> torch.device:
    """``auto`` is the GPU when there is one. Raises UnusableDevice."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UnusableDevice(f"device {name!r} is not usable here; try --device cpu") from error
    return device


def resolve_dtype(checkpoint: Checkpoint, name: str, device: torch.device) -> torch.dtype:
    if name != "auto":
        if name not in _DTYPES:
            raise UnusableDevice(f"dtype {name!r} is not one of auto, {', '.join(_DTYPES)}")
        return _DTYPES[name]
    if checkpoint.name == EMBEDDED_NAME:
        return torch.float32
    stored = checkpoint.config.get("dtype") or checkpoint.config.get("torch_dtype") or "float32"
    dtype = _DTYPES.get(str(stored), torch.float32)
    # CPUs have no fast float16 arithmetic, and its range overflows in some families.
    return torch.float32 if dtype is torch.float16 and device.type == "cpu" else dtype


def model_info(checkpoint: Checkpoint, family: str, dtype: torch.dtype) -> ModelInfo:
    """What its configuration says of a model that computes in ``dtype``.

    Raises MalformedCheckpoint.
    """
    config = checkpoint.config
    try:
        return ModelInfo(
            name=checkpoint.name,
            family=family,
            hidden_size=int(config["hidden_size"]),
            vocab_size=int(config["vocab_size"]),
            num_layers=int(config["num_hidden_layers"]),
            num_heads=int(config["num_attention_heads"]),
            max_context=int(config["max_position_embeddings"]),
            dtype=WIRE_NAMES[dtype],
            eos_token_ids=checkpoint.eos_token_ids,
            kv_bytes_per_position=kv_bytes_per_position(config, dtype.itemsize),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedCheckpoint(f"config.json of {checkpoint.name} lacks {error}") from error
