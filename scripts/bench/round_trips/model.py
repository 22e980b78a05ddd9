"""The embedded model's tokenizer and forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from scripts.bench.round_trips.scripted import Script
from scripts.bench.round_trips.workloads import Workload, follows_text, workloads
from split_client.generation.constraint import Constraint
from split_client.grammar.form import JsonSchema
from split_client.grammar.forms import Forms
from split_client.grammar.keywords import ITEM_SEPARATOR, KEY_SEPARATOR
from split_client.grammar.vocabulary import Vocabulary
from split_client.model.tokenizer import ModelTokenizer
from split_server.checkpoint.folder import EMBEDDED


@dataclass(frozen=True)
class Model:
    """``rows``: length of the logits."""

    tokenizer: ModelTokenizer
    rows: int
    pieces: tuple[bytes, ...]
    forms: Forms

    @classmethod
    def embedded(cls) -> Self:
        """That of the embedded model."""
        path = EMBEDDED / "tokenizer.json"
        config = json.loads((EMBEDDED / "config.json").read_text("utf-8"))
        rows, text = int(config["vocab_size"]), path.read_text("utf-8")
        eos = frozenset({int(config["eos_token_id"])})
        tokenizer = ModelTokenizer.open(path, rows, trusted=True)
        pieces = Vocabulary(text, rows, eos).texts
        return cls(tokenizer, rows, pieces, Forms(lambda: text, rows, eos))

    def workloads(self) -> list[Workload]:
        """All that are scripted."""
        return workloads(self.tokenizer, self.rows, (ITEM_SEPARATOR, KEY_SEPARATOR))

    def constraint(self, schema: dict[str, Any]) -> Callable[[], Constraint]:
        """The form of a schema."""
        return self.forms.constraint(JsonSchema.of(schema))

    def following(self, text: str) -> Script:
        """A script that writes ``text``."""
        return follows_text(text, self.tokenizer, self.pieces)

    def text(self, ids: list[int]) -> str:
        """What ``ids`` say."""
        return b"".join(self.pieces[each] for each in ids).decode()
