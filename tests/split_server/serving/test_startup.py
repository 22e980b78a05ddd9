"""Facts found out before the server listens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from split_server.engine.linears.integers.choice import product_fault
from split_server.errors import UnusableModel
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from tests.checkpoints import tiny_checkpoint

needs_int8 = pytest.mark.skipif(
    bool(product_fault()), reason="this machine has no product of bytes"
)


def test_a_model_whose_hidden_states_overflow_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "large")
    weights = load_file(path / "model.safetensors")
    weights["model.norm.weight"] *= float("inf")
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UnusableModel, match="--dtype"):
        load_parts(ServerConfig(model=str(path), compat=False))


@pytest.mark.parametrize(
    ("flags", "kept"),
    [({"linears": "plain"}, "plain"), pytest.param({"quantize": "int8"}, "int8", marks=needs_int8)],
)
def test_the_start_says_how_matrices_are_kept(
    tiny_path: Path, caplog: pytest.LogCaptureFixture, flags: dict[str, Any], kept: str
) -> None:
    with caplog.at_level("INFO"):
        load_parts(ServerConfig(model=str(tiny_path), compat=False, **flags))
    assert f"linear layers: {kept}" in caplog.messages
