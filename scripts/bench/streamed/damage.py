"""Layer files that are damaged at random: every state is right, or there is an error in words."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.streaming import LayersOnDisk, layer_file
from split_server.engine.streamed.errors import LayerUnreadable
from split_server.kv.cache import KVCache

_ROWS, _PASSES = 4, 3
Damage = Callable[[Path, np.random.Generator], None]


def damaged(path: Path, folder: Path, count: int, seed: int = 0) -> Counter[str]:
    """What became of ``count`` damaged layer files of the small checkpoint at ``path``: ``right``
    states all along, the file ``made anew`` included, ``refused`` in words, or ``wrong``.
    """
    generator, found = np.random.default_rng(seed), Counter[str]()
    expected = _states(_loaded(path, None))
    whole = folder / "whole"
    _closed(_loaded(path, whole))
    for at in range(count):
        place = folder / "damaged"
        shutil.copytree(whole, place)
        [file] = place.glob("*.layers")
        kind = _KINDS[at % len(_KINDS)]
        early = bool(at // len(_KINDS) % 2)
        found[_outcome(path, place, partial(kind, file, generator), expected, early)] += 1
        shutil.rmtree(place)
    return found


def _outcome(
    path: Path, place: Path, damage: Callable[[], None], expected: torch.Tensor, early: bool
) -> str:
    """Of a file that is damaged ``early``, before it is opened, or while it is read."""
    if early:
        damage()
    backbone = _loaded(path, place)
    try:
        for passed in range(_PASSES + 1):
            if not torch.equal(_states(backbone), expected):
                return "wrong"
            if not passed and not early:
                damage()
    except LayerUnreadable:
        return "refused"
    finally:
        _closed(backbone)
    return "right"


def _loaded(path: Path, folder: Path | None) -> Backbone:
    checkpoint = read_checkpoint(path, "damaged")
    numbers = range(int(checkpoint.config["num_hidden_layers"]))
    on_disk = None
    if folder is not None:
        on_disk = LayersOnDisk(numbers, layer_file(checkpoint, torch.float32, folder, "damaged"))
    return load_backbone(checkpoint, "float32", "cpu", linears="plain", on_disk=on_disk)


def _closed(backbone: Backbone) -> None:
    if backbone.stream is not None:
        backbone.stream.close()


def _states(backbone: Backbone) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(_ROWS, backbone.info.hidden_size, generator=generator)
    [states] = ModelRunner(backbone).run([Slice(KVCache(), 0, rows)])
    return states


def _flip(file: Path, generator: np.random.Generator) -> None:
    """One bit anywhere."""
    _write(file, generator, lambda byte: bytes([byte[0] ^ 1 << int(generator.integers(8))]), 1)


def _zeros(file: Path, generator: np.random.Generator) -> None:
    """A block that was never written."""
    _write(file, generator, lambda data: bytes(len(data)), 4096)


def _noise(file: Path, generator: np.random.Generator) -> None:
    """A block of something else."""
    _write(file, generator, lambda data: generator.bytes(len(data)), 512)


def _cut(file: Path, generator: np.random.Generator) -> None:
    os.truncate(file, int(generator.integers(file.stat().st_size)))


def _longer(file: Path, generator: np.random.Generator) -> None:
    with file.open("ab") as raw:
        raw.write(generator.bytes(int(generator.integers(1, 9000))))


def _swapped(file: Path, generator: np.random.Generator) -> None:
    """Two blocks change places."""
    data = bytearray(file.read_bytes())
    one, other = (int(n) * 4096 for n in generator.integers(1, len(data) // 4096, 2))
    data[one : one + 4096], data[other : other + 4096] = (
        data[other : other + 4096],
        data[one : one + 4096],
    )
    _overwrite(file, data)


def _head(file: Path, generator: np.random.Generator) -> None:
    data = bytearray(file.read_bytes())
    data[int(generator.integers(300))] ^= 1 << int(generator.integers(8))
    _overwrite(file, data)


def _overwrite(file: Path, data: bytes | bytearray) -> None:
    with file.open("r+b") as raw:
        raw.write(data)


def _write(
    file: Path, generator: np.random.Generator, change: Callable[[bytes], bytes], size: int
) -> None:
    at = int(generator.integers(file.stat().st_size - size))
    with file.open("r+b") as raw:
        raw.seek(at)
        data = raw.read(size)
        raw.seek(at)
        raw.write(change(data))


_KINDS: tuple[Damage, ...] = (_flip, _zeros, _noise, _cut, _longer, _swapped, _head)
