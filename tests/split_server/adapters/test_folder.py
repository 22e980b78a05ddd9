from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from split_server.adapters.errors import AdaptersNotFound, AdapterUnusable
from split_server.adapters.folder import MAX_ADAPTERS, open_adapters
from split_server.adapters.listing import listing
from split_server.adapters.model_digest import weights_sha256
from split_server.checkpoint.folder import EMBEDDED
from tests.adapted import banking_tensors, write_adapter
from tests.pipes import pipe

HIDDEN = 32


def test_the_embedded_adapter_is_read_as_its_file_has_it() -> None:
    digest = hashlib.sha256((EMBEDDED / "model.safetensors").read_bytes()).hexdigest()
    banking = open_adapters(EMBEDDED / "adapters", 192, digest)["banking"]
    a, b, scale = banking_tensors()
    np.testing.assert_array_equal(banking.a, a.numpy())
    np.testing.assert_array_equal(banking.b, b.numpy())
    assert (banking.rank, banking.hidden_size, banking.scale) == (16, 192, scale)
    assert banking.base_model_sha256 == digest
    assert "loan" in banking.keywords
    assert not banking.a.flags.writeable
    assert not banking.b.flags.writeable


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_half_formats_are_widened_exactly(tmp_path: Path, dtype: torch.dtype) -> None:
    a, b = write_adapter(tmp_path / "x", HIDDEN, dtype=dtype)
    [adapter] = open_adapters(tmp_path, HIDDEN).values()
    assert adapter.a.dtype == adapter.b.dtype == np.float32
    np.testing.assert_array_equal(adapter.a, a.numpy())
    np.testing.assert_array_equal(adapter.b, b.numpy())


def test_a_host_without_a_model_takes_any_width_and_any_base(tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN, base_model_sha256="0" * 64)
    assert list(open_adapters(tmp_path, None)) == ["x"]


def test_files_and_hidden_folders_beside_the_adapters_are_left_alone(tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("adapters", "utf-8")
    assert list(open_adapters(tmp_path, HIDDEN)) == ["x"]


def matrix(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


NAN = torch.full((HIDDEN, 4), float("nan"))
A, B = matrix(4, HIDDEN), matrix(HIDDEN, 4)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another placement": ({"placement": "q_proj"}, "final_hidden_state"),
    "no placement": ({"placement": None}, "placement"),
    "a name that is a path": ({"name": "../x"}, "'name'"),
    "a name that means no adapter": ({"name": "None"}, "'name'"),
    "a name that means a choice": ({"name": "auto"}, "'name'"),
    "a rank that is larger": ({"rank": 65}, "1 to 64"),
    "a rank that is no number": ({"rank": True}, "'rank'"),
    "a rank other than the tensors'": ({"rank": 5}, "A has the shape"),
    "another width than the model": ({"hidden_size": 64}, "the model has 32"),
    "a scale that is text": ({"scale": "1"}, "'scale'"),
    "a scale without bounds": ({"scale": 1e30}, "'scale'"),
    "keywords that are no list": ({"keywords": "loan"}, "'keywords'"),
    "a keyword with a line break": ({"keywords": ["a\nb"]}, "keyword"),
    "a description that moves the cursor": ({"description": "\x1b[2J"}, "'description'"),
    "a digest that is none": ({"base_model_sha256": "abc"}, "base_model_sha256"),
    "other base weights": ({"base_model_sha256": "1" * 64}, "trained on other weights"),
    "one matrix only": ({"tensors": {"A": A}}, "must be A and B"),
    "a third tensor": ({"tensors": {"A": A, "B": B, "C": torch.ones(1)}}, "must be A and B"),
    "names in small letters": ({"tensors": {"a": A, "b": B}}, "must be A and B"),
    "B the other way round": ({"tensors": {"A": A, "B": matrix(4, HIDDEN)}}, "B has the shape"),
    "values that are not finite": ({"tensors": {"A": A, "B": NAN}}, "not finite"),
    "whole numbers": ({"tensors": {"A": A, "B": B.to(torch.int32)}}, "float32, float16"),
    "float64": ({"tensors": {"A": A.double(), "B": B}}, "float32, float16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_adapter_for_this_model_is_refused_with_the_reason(
    tmp_path: Path, name: str
) -> None:
    fields, reason = REFUSED[name]
    write_adapter(tmp_path / "x", HIDDEN, **fields)
    with pytest.raises(AdapterUnusable) as caught:
        open_adapters(tmp_path, HIDDEN, "2" * 64)
    assert reason in str(caught.value)
    assert "'x'" in str(caught.value)
    assert caught.value.code == "adapter_unusable"


def cut(folder: Path) -> None:
    file = folder / "adapter.safetensors"
    file.write_bytes(file.read_bytes()[:-3])


DAMAGED: dict[str, Callable[[Path], object]] = {
    "no description": lambda folder: (folder / "adapter.json").unlink(),
    "no tensors": lambda folder: (folder / "adapter.safetensors").unlink(),
    "a pickle": lambda folder: (folder / "adapter.safetensors").write_bytes(b"\x80\x04K\x01."),
    "cut tensors": cut,
    "not JSON": lambda folder: (folder / "adapter.json").write_text("{", "utf-8"),
    "no object": lambda folder: (folder / "adapter.json").write_text("[]", "utf-8"),
    "a huge description": lambda folder: (folder / "adapter.json").write_bytes(b" " * (1 << 20)),
    "a folder in its place": lambda folder: (
        (folder / "adapter.json").unlink(),
        (folder / "adapter.json").mkdir(),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    DAMAGED[name](tmp_path / "x")
    with pytest.raises(AdapterUnusable):
        open_adapters(tmp_path, HIDDEN)


def test_a_name_that_two_folders_have_is_refused(tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    write_adapter(tmp_path / "y", HIDDEN, name="x")
    with pytest.raises(AdapterUnusable, match="called 'x' too"):
        open_adapters(tmp_path, HIDDEN)


def test_a_folder_that_is_not_there_or_has_too_many_is_told(tmp_path: Path) -> None:
    with pytest.raises(AdaptersNotFound, match="--adapters"):
        open_adapters(tmp_path / "nowhere", HIDDEN)
    for number in range(MAX_ADAPTERS + 1):
        (tmp_path / str(number)).mkdir()
    with pytest.raises(AdaptersNotFound, match="more than"):
        open_adapters(tmp_path, HIDDEN)


def test_the_listing_tells_everything_but_the_matrices(tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    document = listing(open_adapters(tmp_path, HIDDEN), he=True)
    assert json.loads(json.dumps(document)) == {
        "adapters": [
            {
                "name": "x",
                "description": "made up",
                "rank": 4,
                "hidden_size": HIDDEN,
                "scale": 0.5,
                "keywords": ["loan", "bank account"],
                "license": "Apache-2.0",
                "encrypted": True,
            }
        ]
    }


def test_the_digest_of_several_files_is_that_of_their_bytes_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    assert weights_sha256([first, second]) == hashlib.sha256(b"onetwo").hexdigest()


@pytest.mark.parametrize("name", ["adapter.json", "adapter.safetensors"])
def test_a_pipe_in_place_of_a_file_is_told_and_not_waited_for(tmp_path: Path, name: str) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    path = tmp_path / "x" / name
    with (
        pipe(path, path.read_bytes()),
        pytest.raises(AdapterUnusable, match=f"{name} cannot be used: it is not a regular"),
    ):
        open_adapters(tmp_path, HIDDEN)


def test_a_tensors_name_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN)
    save_file({"\x1b]0;owned\x07": matrix(1)}, tmp_path / "x" / "adapter.safetensors")
    with pytest.raises(AdapterUnusable) as caught:
        open_adapters(tmp_path, HIDDEN)
    assert str(caught.value).isprintable()
    assert "x1b]0;owned" in str(caught.value)
