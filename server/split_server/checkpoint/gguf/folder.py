"""The folder that a GGUF becomes: an ordinary checkpoint, written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from split_server.checkpoint.families import EMBEDDING
from split_server.checkpoint.gguf.blocks import BLOCKS
from split_server.checkpoint.gguf.bounds import largest_key_or_value
from split_server.checkpoint.gguf.config import generation_config, model_config
from split_server.checkpoint.gguf.index import Index, Place, read_index
from split_server.checkpoint.gguf.middle import MIDDLE_FILE, TABLES, middle_size, write_middle
from split_server.checkpoint.gguf.names import NAMES, renamed
from split_server.checkpoint.gguf.packed import packed_size, write_packed
from split_server.checkpoint.gguf.shapes import check_shapes
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.gguf.tokenizer import tokenizer_document
from split_server.checkpoint.gguf.values import Metadata
from split_server.checkpoint.gguf.vocabulary import Vocabulary, read_vocabulary
from split_server.checkpoint.gguf.weights import weights_size, write_weights
from split_server.errors import MalformedCheckpoint, NoSpaceForCheckpoint

_TABLE = "token_embd.weight"
# What is known of a middle that is a GGUF.
SPLIT_FILE = "split.json"
# Of the texts beside the weights.
_SPARE_BYTES = 64 << 20


def write_folder(source: Source, target: Path, digest: str, dtype: str) -> None:
    """Make the folder ``target``, which must not exist, of a GGUF.

    ``digest``: SHA-256 of the file, for its model card; ``dtype``: ``bfloat16`` or ``float32``.
    Raises MalformedCheckpoint, UnsupportedFamily, NoSpaceForCheckpoint, OSError.
    """
    index = read_index(source)
    texts, config, new_names = _described(source, index, digest, dtype)
    size = weights_size(index.tensors, dtype) + packed_size(index.tensors, new_names, dtype)

    def fill(made: Path) -> None:
        _write_texts(made, texts)
        _write_tensors(made, source, index.tensors, new_names, config, dtype)

    _write(source, target, size, fill)


def write_split_folder(source: Source, target: Path, digest: str, dtype: str) -> None:
    """:func:`write_folder` with the ends alone as safetensors; the middle is a GGUF beside them.

    ``dtype``: of the ends, ``auto`` for float32 where the file has that and bfloat16 elsewhere.
    Raises what that raises.
    """
    index = read_index(source)
    dtype = _dtype_of_ends(index) if dtype == "auto" else dtype
    texts, config, new_names = _described(source, index, digest, dtype)
    check_shapes(index.tensors, config)
    config["max_position_embeddings"] = longest_context(config)
    texts["config.json"] = json.dumps(config)
    ends = {name: index.tensors[name] for name in TABLES if name in index.tensors}
    size = weights_size(ends, dtype) + packed_size(ends, new_names, dtype) + middle_size(index)

    def fill(made: Path) -> None:
        bound = largest_key_or_value(source, index, config)
        _write_texts(made, {**texts, SPLIT_FILE: json.dumps({"largest_key_or_value": bound})})
        _write_tensors(made, source, ends, new_names, config, dtype)
        with (made / MIDDLE_FILE).open("wb") as file:
            write_middle(file, source, index, config)
            file.flush()
            os.fsync(file.fileno())

    _write(source, target, size, fill)


def longest_context(config: Mapping[str, Any]) -> int:
    """Positions up to which llama.cpp gives what the model is, and can be cut back exactly.

    It leaves out the windows of some families; of others it gives the cells of positions that have
    left one to the next session (llama_kv_cache::find_slot).
    """
    longest: int = config["max_position_embeddings"]
    window = config.get("sliding_window")
    return longest if window is None else max(min(longest, int(window) - 1), 1)


def _write(source: Source, target: Path, size: int, fill: Callable[[Path], None]) -> None:
    """Make ``target`` by ``fill``, which takes ``size`` bytes of disk, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _check_space(target.parent, size, source.name)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        fill(made)
        source.check_unchanged()
        made.chmod(0o755)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _write_texts(made: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (made / name).write_text(text, "utf-8")


def _write_tensors(
    made: Path,
    source: Source,
    places: Mapping[str, Place],
    new_names: Mapping[str, str],
    config: Mapping[str, Any],
    dtype: str,
) -> None:
    names = NAMES[config["model_type"]]
    with (made / "model.safetensors").open("wb") as file:
        write_weights(file, source, places, new_names, names, config, dtype)
        file.flush()
        os.fsync(file.fileno())
    write_packed(made, source, places, new_names)


def _dtype_of_ends(index: Index) -> str:
    table = index.tensors.get(_TABLE)
    return "float32" if table is not None and BLOCKS[table.kind].name == "F32" else "bfloat16"


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
