"""The ends of a model whose rows and logits are as they are: embedding table and LM head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import safe_open

from split_server.checkpoint.families import EMBEDDING, HEAD
from split_server.checkpoint.folder import read_checkpoint

_PLAIN = ("llama", "mistral", "qwen2", "qwen3")


class Ends:
    """Embedding rows and logits of the checkpoint in a folder."""

    def __init__(self, path: Path) -> None:
        checkpoint = read_checkpoint(path, path.name)
        if checkpoint.config["model_type"] not in _PLAIN:
            raise SystemExit(f"only models of {', '.join(_PLAIN)} are measured")
        self._table = _tensor(checkpoint.tensors[EMBEDDING].file, EMBEDDING)
        head = checkpoint.tensors.get(HEAD)
        rows = self._table if head is None else _tensor(head.file, HEAD)
        self._head = rows.float()

    def rows(self, ids: Sequence[int]) -> torch.Tensor:
        """[n, H] of token ids."""
        return self._table[torch.tensor(ids)]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """float32 [n, vocabulary] of final hidden states [n, H]."""
        return hidden.float() @ self._head.T


def _tensor(file: Path, name: str) -> torch.Tensor:
    with safe_open(file, "pt") as tensors:
        found: torch.Tensor = tensors.get_tensor(name)
        return found
