"""A byte-level vocabulary made of files at hand, of a size that no tokenizer here has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

_SUFFIXES = (".py", ".json", ".md")
_MOST_FILE, _MOST_ALL = 1 << 18, 24 << 20


def trained(folder: Path, words: int) -> Tokenizer:
    """``words`` tokens, of at most 24 MB of the files below ``folder`` in the order of names."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=words, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_texts(folder), trainer)
    return tokenizer


def _texts(folder: Path) -> Iterator[str]:
    left = _MOST_ALL
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _SUFFIXES or not path.is_file() or left <= 0:
            continue
        text = path.read_text("utf-8", "replace")[:_MOST_FILE]
        left -= len(text)
        yield text
