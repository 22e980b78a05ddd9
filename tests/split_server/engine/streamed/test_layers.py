"""Decoder layers that compute with what lies in a slot."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.streamed import layers as streamed
from split_server.engine.streamed.errors import LayerUnreadable
from split_server.engine.streamed.layers import Stream, StreamedLayer
from split_server.engine.streamed.slots import Slot
from tests.layer_files import index_of, opened, values_of


class _Two(torch.nn.Module):
    """Sums of its two matrices."""

    def __init__(self) -> None:
        super().__init__()
        for name, kind in (("one", torch.float32), ("two", torch.bfloat16)):
            part = torch.nn.Module()
            part.weight = torch.nn.Parameter(torch.zeros((), dtype=kind), requires_grad=False)
            setattr(self, name, part)
        self.kind = "full_attention"

    def forward(self, factor: int) -> list[torch.Tensor]:
        return [factor * self.get_parameter(name) for name in ("one.weight", "two.weight")]


def _expected(number: int) -> list[torch.Tensor]:
    index = index_of()
    data = bytearray(values_of(index, number))
    kinds = {"f32": torch.float32, "bf16": torch.bfloat16}
    whole = torch.frombuffer(data, dtype=torch.uint8)
    return [
        whole[t.offset : t.offset + t.size].view(kinds[t.dtype]).view(t.shape)
        for t in index.layers[number].tensors
    ]


def _same(found: list[torch.Tensor], number: int) -> bool:
    return all(
        torch.equal(a.view(torch.uint8), (1 * b).view(torch.uint8))
        for a, b in zip(found, _expected(number), strict=True)
    )


def test_each_layer_computes_with_its_own_matrices_pass_after_pass(tmp_path: Path) -> None:
    stream = Stream(opened(tmp_path), (0, 2, 3, 4))
    modules = [StreamedLayer(_Two(), stream, place) for place in range(4)]
    for _ in range(20):
        for module, number in zip(modules, stream.numbers, strict=True):
            assert _same(module(1), number)
    assert stream.resident == 1
    assert stream.passes_per_second > 0
    stream.close()


def test_nobody_finds_parameters_to_move_but_attributes_are_there(tmp_path: Path) -> None:
    stream = Stream(opened(tmp_path), (1,))
    module = StreamedLayer(_Two(), stream, 0)
    assert [*module.parameters()] == []
    assert [*module.modules()] == [module]
    assert module.kind == "full_attention"
    with pytest.raises(AttributeError, match="unknown"):
        _ = module.unknown
    stream.close()


def test_a_pass_that_fails_midway_leaves_the_next_one_whole(tmp_path: Path) -> None:
    stream = Stream(opened(tmp_path), range(5))
    modules = [StreamedLayer(_Two(), stream, place) for place in range(5)]
    for stop in (0, 1, 3, 4, 2):
        for module in modules[:stop]:
            module(1)
        with pytest.raises(TypeError):
            modules[stop]()
        assert all(_same(module(1), number) for number, module in enumerate(modules))
    stream.close()


class _Hangs:
    """Turns of a disk that does not answer; the seconds for which it was waited."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.hangs = True

    def take(self, layer: int, seconds: float) -> int:
        self.waited.append(seconds)
        if self.hangs:
            raise TimeoutError
        return layer

    def release(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nobody waits."""


def test_a_disk_that_hangs_is_waited_for_once(tmp_path: Path, monkeypatch: Any) -> None:
    stream = Stream(opened(tmp_path), range(5))
    stream.close()
    turns = _Hangs()
    monkeypatch.setattr(stream._reader, "turns", turns)
    for _ in range(2):
        with pytest.raises(LayerUnreadable, match="does not answer"), stream.held(3):
            pass
    turns.hangs = False
    for _ in range(2):
        with stream.held(3):
            pass
    long, little = streamed._PATIENCE, streamed._LITTLE_PATIENCE
    assert turns.waited == [long, little, little, long]


def test_a_stream_that_is_forgotten_ends_its_thread(tmp_path: Path) -> None:
    stream = Stream(opened(tmp_path), range(5))
    thread: threading.Thread = stream._reader._thread
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    assert gone() is None
    assert not thread.is_alive()


def test_slots_begin_at_pages() -> None:
    slot = Slot(3 * 4096)
    assert torch.frombuffer(slot.buffer, dtype=torch.uint8).data_ptr() % 4096 == 0
