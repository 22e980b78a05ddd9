"""The folder that a GGUF becomes: an ordinary checkpoint, written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from split_server.checkpoint.families import EMBEDDING
from split_server.checkpoint.gguf.config import generation_config, model_config
from split_server.checkpoint.gguf.index import Index, read_index
from split_server.checkpoint.gguf.names import NAMES, renamed
from split_server.checkpoint.gguf.packed import packed_size, write_packed
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.gguf.tokenizer import tokenizer_document
from split_server.checkpoint.gguf.values import Metadata
from split_server.checkpoint.gguf.vocabulary import Vocabulary, read_vocabulary
from split_server.checkpoint.gguf.weights import weights_size, write_weights
from split_server.errors import MalformedCheckpoint, NoSpaceForCheckpoint

_TABLE = "token_embd.weight"
# Of the texts beside the weights.
_SPARE_BYTES = 64 << 20


def write_folder(source: Source, target: Path, digest: str, dtype: str) -> None:
    """Make the folder ``target``, which must not exist, of a GGUF.

    ``digest``: SHA-256 of the file, for its model card; ``dtype``: ``bfloat16`` or ``float32``.
    Raises MalformedCheckpoint, UnsupportedFamily, NoSpaceForCheckpoint, OSError.
    """
    index = read_index(source)
    texts, config, new_names = _described(source, index, digest, dtype)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = weights_size(index.tensors, dtype) + packed_size(index.tensors, new_names, dtype)
    _check_space(target.parent, size, source.name)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, text in texts.items():
            (made / name).write_text(text, "utf-8")
        names = NAMES[config["model_type"]]
        with (made / "model.safetensors").open("wb") as file:
            write_weights(file, source, index.tensors, new_names, names, config, dtype)
            file.flush()
            os.fsync(file.fileno())
        write_packed(made, source, index.tensors, new_names)
        source.check_unchanged()
        made.chmod(0o755)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _described(
    source: Source, index: Index, digest: str, dtype: str
) -> tuple[dict[str, str], dict[str, Any], dict[str, str]]:
    """Everything but the weights, by file name; the configuration; the tensors' new names."""
    metadata, table = index.metadata, index.tensors.get(_TABLE)
    if "split.count" in metadata and metadata.integer("split.count") > 1:
        raise MalformedCheckpoint(
            f"{source.name} is one of {metadata.integer('split.count')} parts; join them with "
            "llama.cpp's gguf-split --merge"
        )
    if table is None or len(table.shape) != 2:
        raise MalformedCheckpoint(f"{source.name} has no table {_TABLE} for {EMBEDDING}")
    rows, tied = table.shape[0], "output.weight" not in index.tensors
    config = model_config(metadata, vocabulary=rows, tied=tied) | {"torch_dtype": dtype}
    shapes = {name: place.shape for name, place in index.tensors.items()}
    new_names = renamed(NAMES[config["model_type"]], shapes, config["num_hidden_layers"])
    vocabulary = read_vocabulary(metadata, rows)
    documents = {
        "config.json": config,
        "generation_config.json": generation_config(metadata, rows),
        "tokenizer.json": tokenizer_document(metadata, vocabulary),
        "tokenizer_config.json": _tokenizer_config(vocabulary),
    }
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in documents.items()}
    if "tokenizer.chat_template" in metadata:
        texts["chat_template.jinja"] = metadata.text("tokenizer.chat_template")
    texts["README.md"] = _card(source, metadata, digest)
    return texts, config, new_names


def _tokenizer_config(vocabulary: Vocabulary) -> Mapping[str, Any]:
    named = {f"{name}_token": vocabulary.named(name) for name in ("bos", "eos", "unk", "pad")}
    special = {name: piece for name, piece in named.items() if piece is not None}
    return {"tokenizer_class": "PreTrainedTokenizerFast", **special}


def _card(source: Source, metadata: Metadata, digest: str) -> str:
    """A model card with what the file says of itself, each on one line."""
    licence = _line(metadata.text("general.license", ""))
    name = _line(metadata.text("general.name", "")) or source.name
    front = f"---\nlicense: {licence}\n---\n\n" if licence else ""
    return f"{front}# {name}\n\nMade from {_line(source.name)}, SHA-256 {digest}.\n"


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:200]


def _check_space(folder: Path, size: int, name: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < size + _SPARE_BYTES:
        raise NoSpaceForCheckpoint(name, size + _SPARE_BYTES, free, str(folder))
