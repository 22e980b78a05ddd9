"""The manifest of a model's ends: what a server offers, checked before anything is believed.

Its digest, the SHA-256 of its bytes as served, names the model everywhere else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from split_client.errors import ManifestInvalid
from split_client.weights.fields import Reader, is_sha256
from split_wire.floats import FloatName

FORMAT = 1
FILE_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 4 << 20
_FLOATS = ("f16", "bf16", "f32")
_ITEM_BYTES = {"f16": 2, "bf16": 2, "f32": 4}
_MAX_HIDDEN = 1 << 16
_MAX_VOCAB = 1 << 22
_MAX_CONTEXT = 1 << 24
_MAX_FILES = 64
_MAX_TOKENIZER_BYTES = 128 << 20
_MAX_TEMPLATE_BYTES = 1 << 20
_CHUNK_BYTES = (64 << 10, 64 << 20)
_MAX_CHUNKS = 1 << 20
_GENERATION = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file: ``size`` in bytes, the SHA-256 of all and of each chunk of ``chunk_size`` bytes."""

    name: str
    size: int
    sha256: str
    chunk_size: int
    chunks: tuple[str, ...]

    def span(self, chunk: int) -> tuple[int, int]:
        """First byte and length of a chunk."""
        start = chunk * self.chunk_size
        return start, min(self.chunk_size, self.size - start)


@dataclass(frozen=True, slots=True)
class EmbeddingEntry:
    """The embedding table; ``scale`` is the family's factor on its rows."""

    file: str
    dtype: FloatName
    rows: int
    scale: float | None


@dataclass(frozen=True, slots=True)
class HeadEntry:
    """The LM head: ``rows`` of ``dtype``, a float32 bias file, and what happens to its logits.

    ``divide``: they are divided by ``logit_scale``, not multiplied.
    """

    file: str
    dtype: FloatName
    rows: int
    bias: str | None
    softcap: float | None
    logit_scale: float
    divide: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """A checked manifest; every file that the device needs is in ``files``."""

    digest: str
    name: str
    family: str
    licence: str | None
    hidden_size: int
    vocab_size: int
    num_layers: int
    max_context: int
    eos_token_ids: frozenset[int]
    embedding: EmbeddingEntry
    head: HeadEntry
    tokenizer: str
    chat_template: str | None
    special_tokens: dict[str, str]
    generation: dict[str, float]
    files: tuple[FileEntry, ...]

    def file(self, name: str) -> FileEntry:
        """The entry of one of the files."""
        return next(entry for entry in self.files if entry.name == name)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def manifest_digest(data: bytes) -> str:
    """The name of the manifest with these bytes."""
    return sha256(data).hexdigest()


def parse_manifest(data: bytes) -> Manifest:
    """Read and check a manifest. Raises ManifestInvalid; unknown keys are ignored."""
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestInvalid(f"it is longer than {MAX_MANIFEST_BYTES} bytes")
    try:
        reader = Reader(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ManifestInvalid("it is not JSON") from error
    if reader.count("format", 0, 1 << 30) != FORMAT:
        raise ManifestInvalid(f"its format is not {FORMAT}; update split-client or the server")
    return _check(_read(reader, manifest_digest(data)))


def _read(reader: Reader, digest: str) -> Manifest:
    model, ends = reader.inner("model"), reader.inner("ends")
    vocab = reader.count("vocab_size", 1, _MAX_VOCAB)
    template = reader.file_name("chat_template") if reader.has("chat_template") else None
    manifest = Manifest(
        digest=digest,
        name=model.text("name"),
        family=model.text("family"),
        licence=model.text("licence", 1 << 16) if model.has("licence") else None,
        hidden_size=reader.count("hidden_size", 1, _MAX_HIDDEN),
        vocab_size=vocab,
        num_layers=reader.count("num_layers", 1, 1 << 16),
        max_context=reader.count("max_context", 1, _MAX_CONTEXT),
        eos_token_ids=_token_ids(reader, vocab),
        embedding=_embedding(ends.inner("embedding")),
        head=_head(ends.inner("lm_head")),
        tokenizer=reader.file_name("tokenizer"),
        chat_template=template,
        special_tokens=reader.texts("special_tokens", 64),
        generation=_generation(reader),
        files=(),
    )
    return _with_files(manifest, _files(reader))


def _token_ids(reader: Reader, vocab: int) -> frozenset[int]:
    ids = reader.items("eos_token_ids", 256)
    if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < vocab for i in ids):
        raise ManifestInvalid("eos_token_ids holds something that is not a token of the model")
    return frozenset(ids)


def _embedding(reader: Reader) -> EmbeddingEntry:
    return EmbeddingEntry(
        file=reader.file_name("file"),
        dtype=cast(FloatName, reader.choice("dtype", _FLOATS)),
        rows=reader.count("rows", 1, _MAX_VOCAB),
        scale=reader.optional_number("scale"),
    )


def _head(reader: Reader) -> HeadEntry:
    softcap = reader.optional_number("softcap")
    divide = reader.has("logit_divisor")
    if divide and reader.has("logit_scale"):
        raise ManifestInvalid("lm_head has both logit_scale and logit_divisor")
    scale = reader.number("logit_divisor" if divide else "logit_scale")
    if (softcap is not None and softcap <= 0) or scale <= 0:
        raise ManifestInvalid("softcap, logit_scale and logit_divisor must be positive")
    return HeadEntry(
        file=reader.file_name("file"),
        dtype=cast(FloatName, reader.choice("dtype", _FLOATS)),
        rows=reader.count("rows", 1, _MAX_VOCAB),
        bias=reader.file_name("bias") if reader.has("bias") else None,
        softcap=softcap,
        logit_scale=scale,
        divide=divide,
    )


def _generation(reader: Reader) -> dict[str, float]:
    if not reader.has("generation"):
        return {}
    inner = reader.inner("generation")
    return {name: inner.number(name) for name in _GENERATION if inner.has(name)}


def _files(reader: Reader) -> dict[str, FileEntry]:
    entries: dict[str, FileEntry] = {}
    for index, item in enumerate(reader.items("files", _MAX_FILES)):
        entry = _file(Reader(item, f"files[{index}]"))
        # Some file systems do not tell upper from lower case.
        if entry.name.lower() in entries or entry.name.lower() == FILE_NAME:
            raise ManifestInvalid(f"two files are called {entry.name!r}")
        entries[entry.name.lower()] = entry
    return {entry.name: entry for entry in entries.values()}


def _file(reader: Reader) -> FileEntry:
    size = reader.count("size", 1, 1 << 42)
    chunk_size = reader.count("chunk_size", *_CHUNK_BYTES)
    chunks = reader.items("chunks", _MAX_CHUNKS)
    if len(chunks) != -(-size // chunk_size) or not all(is_sha256(chunk) for chunk in chunks):
        raise ManifestInvalid("a file's chunks do not match its size")
    return FileEntry(
        reader.file_name("name"), size, reader.sha256("sha256"), chunk_size, tuple(chunks)
    )


def _with_files(manifest: Manifest, listed: dict[str, FileEntry]) -> Manifest:
    """Keep the files that the device needs, each once, and none other."""
    embedding, head = manifest.embedding, manifest.head
    needed = [embedding.file, head.file, head.bias, manifest.tokenizer, manifest.chat_template]
    names = list(dict.fromkeys(name for name in needed if name is not None))
    for name in names:
        if name not in listed:
            raise ManifestInvalid(f"{name!r} is used and not in the list of files")
    values = {name: getattr(manifest, name) for name in Manifest.__dataclass_fields__}
    return Manifest(**values | {"files": tuple(listed[name] for name in names)})


def _check(manifest: Manifest) -> Manifest:
    """Sizes against shapes: a mapped file must hold exactly the rows that are read from it."""
    embedding, head = manifest.embedding, manifest.head
    if embedding.rows != manifest.vocab_size or head.rows > manifest.vocab_size:
        raise ManifestInvalid("the rows of the ends do not match vocab_size")
    width = manifest.hidden_size
    wanted = {embedding.file: embedding.rows * width * _ITEM_BYTES[embedding.dtype]}
    head_bytes = head.rows * width * _ITEM_BYTES[head.dtype]
    if wanted.setdefault(head.file, head_bytes) != head_bytes:
        raise ManifestInvalid("the two ends share a file and not its shape")
    if head.bias is not None and wanted.setdefault(head.bias, 4 * head.rows) != 4 * head.rows:
        raise ManifestInvalid("the bias shares a file with something else")
    for name, size in wanted.items():
        listed = manifest.file(name).size
        if listed != size:
            raise ManifestInvalid(f"{name!r} has {listed} bytes, its shape needs {size}")
    _check_text_files(manifest, set(wanted))
    return manifest


def _check_text_files(manifest: Manifest, tensors: set[str]) -> None:
    limits = {manifest.tokenizer: _MAX_TOKENIZER_BYTES}
    if manifest.chat_template is not None:
        limits[manifest.chat_template] = _MAX_TEMPLATE_BYTES
    for name, limit in limits.items():
        if name in tensors or manifest.file(name).size > limit:
            raise ManifestInvalid(f"{name!r} is not a text file of at most {limit} bytes")
