"""A served checkpoint for clients of the original protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from split_server.checkpoint.catalog import LEGACY_EMBEDDING, build_catalog
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.checkpoint.texts import TOKENIZER
from split_server.http.original.protocol import OriginalProtocol
from split_server.original.ends import encoder, half_rows
from split_server.serving.app import Parts
from split_server.sessions.reuse import Reuse
from tests import oracle
from tests.engines import tiny_backbone, tiny_service
from tests.server_process import running_server
from tests.split_server.http.original.upstream_client import (
    generate,
)

PROMPT = "What is split inference? The device"
TTL = 300.0


class Setup:
    """A served checkpoint; ``now`` is the session store's clock."""

    def __init__(self, path: Path, **flags: Any) -> None:
        self.path = path
        self.now = 0.0
        checkpoint = read_checkpoint(path, path.name)
        catalog = build_catalog(checkpoint)
        reuse: Reuse | None = flags.pop("reuse", None)
        made = {"pass_rows": flags.pop("pass_rows")} if "pass_rows" in flags else {}
        self.service = tiny_service(
            tiny_backbone(path), clock=lambda: self.now, reuse=reuse, **made
        )
        original = OriginalProtocol(
            self.service.original,
            encoder(catalog.read(TOKENIZER)),
            half_rows(catalog.legacy[LEGACY_EMBEDDING], self.hidden),
            **flags,
        )
        manifest = build_manifest(checkpoint, catalog)
        self.parts = Parts(
            catalog=catalog,
            manifest=manifest,
            steps=self.service.steps,
            framed=self.service.framed,
            original=original,
        )
        self.base = ""

    @contextmanager
    def serving(self, **settings: Any) -> Iterator[Setup]:
        """On a free port of loopback, which is in ``base``."""
        with running_server(self.path, parts=self.parts, **settings) as server:
            self.base = server.url
            yield self

    @property
    def hidden(self) -> int:
        return self.service.info.hidden_size

    def embed(self, ids: list[int]) -> np.ndarray:
        return oracle.embeddings(self.path, ids).numpy()

    def pick(self, hidden: np.ndarray) -> int:
        return int(oracle.head(self.path, torch.from_numpy(hidden.copy())).argmax())

    def ids(self, text: str = PROMPT) -> list[int]:
        return Tokenizer.from_file(str(self.path / "tokenizer.json")).encode(text).ids

    def generate(
        self, forward: Callable[..., dict[str, Any]], count: int = 12, **options: Any
    ) -> Any:
        stop = set(self.service.info.eos_token_ids)
        prompt = options.pop("prompt", None) or self.ids()
        return generate(forward, self.embed, self.pick, prompt, count, stop, **options)
