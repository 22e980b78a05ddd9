"""The tensors of matrices in groups: found by name, and every shape and dtype checked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.grouped.matrices import split_tensors
from split_server.checkpoint.grouped.scheme import Scheme
from split_server.checkpoint.safetensors_index import index_file
from split_server.errors import MalformedCheckpoint
from tests.grouped_files import AWQ, GPTQ, Kind, grouped_checkpoint

_AWQ = Scheme(along_rows=False, group=32, zero_offset=0, ordered=False)
_GPTQ = Scheme(along_rows=True, group=32, zero_offset=1, ordered=True)


def _words(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int32)


def _awq(**changed: torch.Tensor) -> dict[str, torch.Tensor]:
    """Of 16 x 64."""
    tensors = {"qweight": _words(64, 2), "qzeros": _words(2, 2), "scales": torch.ones(2, 16).half()}
    return {f"a.{name}": tensor for name, tensor in (tensors | changed).items()}


def _gptq(**changed: torch.Tensor) -> dict[str, torch.Tensor]:
    tensors = {"qweight": _words(8, 16), "qzeros": _words(2, 2), "g_idx": _words(64)}
    tensors["scales"] = torch.ones(2, 16).half()
    return {f"a.{name}": tensor for name, tensor in (tensors | changed).items()}


def _split(path: Path, scheme: Scheme, tensors: dict[str, torch.Tensor]):  # type: ignore[no-untyped-def]
    save_file(tensors, path / "m")
    return split_tensors(scheme, index_file(path / "m", words=True))


@pytest.mark.parametrize(("scheme", "tensors"), [(_AWQ, _awq()), (_GPTQ, _gptq())])
def test_a_matrix_is_found_and_its_tensors_are_not_among_the_others(
    tmp_path: Path, scheme: Scheme, tensors: dict[str, torch.Tensor]
) -> None:
    tensors |= {"a.bias": torch.ones(16), "steps": _words(3)}
    plain, matrices = _split(tmp_path, scheme, tensors)
    assert list(plain) == ["a.bias"]
    assert (matrices["a"].rows, matrices["a"].columns, matrices["a"].group) == (16, 64, 32)


@pytest.mark.parametrize(
    ("scheme", "tensors", "words"),
    [
        (_AWQ, _awq(qzeros=_words(1, 2)), "qzeros"),
        (_AWQ, _awq(qzeros=torch.ones(2, 2)), "qzeros is f32"),
        (_AWQ, _awq(scales=torch.ones(16, 2).half()), "scales"),
        (_AWQ, _awq(scales=_words(2, 16)), "scales is i32"),
        (_AWQ, _awq(qweight=torch.ones(64, 2)), "qweight is f32"),
        (_AWQ, _awq(qweight=_words(64)), r"shape \[64\]"),
        (_AWQ, _awq(qweight=_words(64, 0)), r"shape \[64, 0\]"),
        (_AWQ, _awq(qweight=_words(48, 2)), "no whole groups"),
        (_AWQ, _awq(weight=torch.ones(16, 64)), "both a weight and a qweight"),
        (_GPTQ, _gptq(g_idx=_words(63)), "g_idx"),
        (_GPTQ, _gptq(g_idx=torch.ones(64)), "g_idx is f32"),
        (_GPTQ, _gptq(qzeros=_words(2, 16)), "qzeros"),
        (_AWQ, {"a.qweight": _words(64, 2)}, "no qzeros"),
        (_AWQ, {"a.qweight": _words(64, 2), "a.qzeros": _words(2, 2)}, "no scales"),
        (_AWQ, {"a.weight": torch.ones(16, 64)}, "no tensor is a qweight|no tensor a qweight"),
    ],
)
def test_what_does_not_hold_together_is_refused(
    tmp_path: Path, scheme: Scheme, tensors: dict[str, torch.Tensor], words: str
) -> None:
    with pytest.raises(MalformedCheckpoint, match=words):
        _split(tmp_path, scheme, tensors)


@pytest.mark.parametrize("kind", [AWQ, GPTQ])
def test_a_checkpoint_knows_its_matrices_and_all_of_its_files(
    tiny_path: Path, tmp_path: Path, kind: Kind
) -> None:
    checkpoint = read_checkpoint(grouped_checkpoint(tiny_path, tmp_path / "q", kind), "q")
    assert len(checkpoint.grouped) == 3 * 7
    assert checkpoint.weight_files == [tmp_path / "q" / "model.safetensors"]
    assert all(tensor.dtype == "f32" for tensor in checkpoint.tensors.values())
