"""Blocks of a GGUF's tables beside the rows: kept where they are the rows bit by bit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from split_server.checkpoint.gguf import folder as rooms
from split_server.checkpoint.gguf import packed
from split_server.checkpoint.gguf.folder import write_folder
from split_server.checkpoint.gguf.source import Source
from split_server.errors import NoSpaceForCheckpoint
from split_wire.blocks import q8_0_to_bf16
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import as_gguf

TABLE, HEAD = "token_embd.weight", "output.weight"
EMBEDDING_FILE, HEAD_FILE = "embedding.bin.q8_0", "head.bin.q8_0"


@pytest.fixture(scope="module")
def untied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("llama", tmp_path_factory.mktemp("llama") / "model", tied=False)


def _made(untied: Path, folder: Path, q8_0: tuple[str, ...], dtype: str = "bfloat16") -> Path:
    with Source(as_gguf(untied, folder / "m.gguf", q8_0=q8_0)) as source:
        write_folder(source, folder / "made", "ab" * 32, dtype)
    return folder / "made"


def _packed_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.q8_0"))


def test_tables_of_blocks_are_kept_as_they_are_stored(untied: Path, tmp_path: Path) -> None:
    made = _made(untied, tmp_path, (TABLE, HEAD))
    assert _packed_files(made) == [EMBEDDING_FILE, HEAD_FILE]
    rows = load_file(made / "model.safetensors")
    tensors = {EMBEDDING_FILE: "model.embed_tokens.weight", HEAD_FILE: "lm_head.weight"}
    for file, tensor in tensors.items():
        blocks = (made / file).read_bytes()
        assert q8_0_to_bf16(blocks) == rows[tensor].view(torch.uint8).numpy().tobytes()
        assert blocks in (tmp_path / "m.gguf").read_bytes()


def test_only_tables_of_blocks_are_kept(untied: Path, tmp_path: Path) -> None:
    for number, quantised in enumerate([(HEAD,), ("blk.0.attn_v.weight",)]):
        (folder := tmp_path / str(number)).mkdir()
        kept = [HEAD_FILE] if HEAD in quantised else []
        assert _packed_files(_made(untied, folder, quantised)) == kept


def test_rows_of_float32_are_not_the_blocks_rounded(untied: Path, tmp_path: Path) -> None:
    assert _packed_files(_made(untied, tmp_path, (TABLE, HEAD), "float32")) == []


def test_blocks_of_other_rows_than_are_stored_are_not_kept(
    untied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(blocks: bytes) -> bytes:
        values = np.frombuffer(q8_0_to_bf16(blocks), "<u2").copy()
        values[-1] ^= 1
        return values.tobytes()

    monkeypatch.setattr(packed, "q8_0_to_bf16", other)
    made = _made(untied, tmp_path, (TABLE,))
    assert _packed_files(made) == []
    assert (made / "model.safetensors").is_file()


def test_room_for_the_blocks_is_asked_for_too(
    untied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))

    def asked(name: str, quantised: tuple[str, ...], dtype: str) -> int:
        (folder := tmp_path / name).mkdir()
        with pytest.raises(NoSpaceForCheckpoint, match=r"needs \d+ bytes") as caught:
            _made(untied, folder, quantised, dtype)
        return int(re.findall(r"needs (\d+) bytes", str(caught.value))[0])

    rows, width = load_file(untied / "model.safetensors")["model.embed_tokens.weight"].shape
    blocks = rows * width // 32 * 34
    assert asked("a", (TABLE,), "bfloat16") == asked("b", (), "bfloat16") + blocks
    assert asked("c", (TABLE,), "float32") == asked("d", (), "float32")
