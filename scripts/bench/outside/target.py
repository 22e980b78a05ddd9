"""What the attacker has of a model: its table, tokenizer and chat template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from scripts.paths import ROOT

EMBEDDED = ROOT / "server/split_server/embedded"
_TABLE = "model.embed_tokens.weight"
_MARK = "MESSAGE"


@dataclass(frozen=True, slots=True)
class Target:
    """``table`` float32 [V, H]; a prompt is ``before``, the message's tokens and ``after``.

    ``special``: tokens that no message holds.
    """

    folder: Path
    table: NDArray[np.float32]
    tokenizer: Tokenizer
    before: tuple[int, ...]
    after: tuple[int, ...]
    special: tuple[int, ...]

    @classmethod
    def load(cls, name: str) -> Target:
        """The model in the folder ``name``, or the ``embedded`` one."""
        folder = EMBEDDED if name == "embedded" else Path(name)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        before, after = _template(folder)
        return cls(
            folder,
            _table(folder / "model.safetensors"),
            tokenizer,
            tuple(tokenizer.encode(before, add_special_tokens=False).ids),
            tuple(tokenizer.encode(after, add_special_tokens=False).ids),
            tuple(tokenizer.get_added_tokens_decoder()),
        )

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self.table)

    def encode(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each message, without the template's."""
        found = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def prompt(self, message: list[int]) -> list[int]:
        """All tokens that a device sends for a first message."""
        return [*self.before, *message, *self.after]


def _table(path: Path) -> NDArray[np.float32]:
    with safe_open(path, "pt") as file:
        table: NDArray[np.float32] = file.get_tensor(_TABLE).float().numpy()
    return table


def _template(folder: Path) -> tuple[str, str]:
    """The text around a first message."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = folder / "chat_template.jinja"
    chat = [{"role": "user", "content": _MARK}]
    text = tokenizer.apply_chat_template(
        chat,
        chat_template=own.read_text() if own.exists() else None,
        tokenize=False,
        add_generation_prompt=True,
    )
    before, after = str(text).split(_MARK)
    return before, after
