"""The files of a checkpoint that a device can fetch, each with its digests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from split_server.checkpoint.families import (
    EMBEDDING_FILE,
    HEAD,
    HEAD_FILE,
    EndsSpec,
    family_of,
)
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.half_rows import HalfSource, as_f32_bytes
from split_server.checkpoint.packed_rows import packed_source
from split_server.checkpoint.safetensors_index import TensorSlice, same_values
from split_server.checkpoint.slices import (
    Digests,
    FileSource,
    Progress,
    Source,
    TextSource,
    hash_source,
)
from split_server.checkpoint.texts import CHAT_TEMPLATE, TOKENIZER, chat_template, tokenizer_json
from split_server.errors import MalformedCheckpoint
from split_wire.blocks import Q8_0_SUFFIX
from split_wire.errors import NotFound

HEAD_BIAS_FILE = "head_bias.bin"
LEGACY_EMBEDDING = "embed_tokens.bin"
LEGACY_HEAD = "lm_head.bin"
_BINARY = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ServedFile:
    """``lossy_values``: values that differ from the checkpoint's; None: the bytes are its own.

    ``packed``: names of packed forms that its answer tells of.
    """

    name: str
    source: Source
    media_type: str
    digests: Digests
    lossy_values: int | None = None
    packed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ends:
    """The tensors of the device's end; ``head`` is ``embedding`` itself when tied."""

    spec: EndsSpec
    embedding: TensorSlice
    head: TensorSlice
    head_bias: TensorSlice | None

    @property
    def tied(self) -> bool:
        return self.spec.head == self.spec.embedding


def ends_of(checkpoint: Checkpoint) -> Ends:
    """Find the ends. Raises UnsupportedFamily, MalformedCheckpoint."""
    tensors = checkpoint.tensors
    spec = _with_own_head(family_of(checkpoint.config).ends(checkpoint.config, tensors), tensors)
    embedding, head = tensors[spec.embedding], tensors[spec.head]
    width = checkpoint.config.get("hidden_size")
    for tensor in (embedding, head):
        if len(tensor.shape) != 2 or tensor.shape[1] != width:
            raise MalformedCheckpoint(
                f"an end of {checkpoint.name} has the shape {list(tensor.shape)}, "
                f"not [rows, {width}]"
            )
    bias = None if spec.head_bias is None else tensors[spec.head_bias]
    if bias is not None and bias.shape != head.shape[:1]:
        raise MalformedCheckpoint(
            f"{spec.head_bias} of {checkpoint.name} has the shape {list(bias.shape)}, "
            f"not {list(head.shape[:1])}"
        )
    return Ends(spec, embedding, head, bias)


def _with_own_head(spec: EndsSpec, tensors: Mapping[str, TensorSlice]) -> EndsSpec:
    """As transformers loads it: a tied head that is stored with other values is not tied."""
    own = tensors.get(HEAD)
    if own is None or spec.head == HEAD or same_values(own, tensors[spec.embedding]):
        return spec
    return replace(spec, head=HEAD)


@dataclass
class Catalog:
    """The files by name; float16 copies of the ends are measured when first asked for.

    ``packed``: other ways for the bytes of some ``files``, which no manifest names.
    """

    files: Mapping[str, ServedFile]
    legacy: Mapping[str, HalfSource]
    packed: Mapping[str, ServedFile] = field(default_factory=dict)
    _measured: dict[str, ServedFile] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, name: str) -> ServedFile:
        """The file ``name``; reads the whole tensor at the first use of a legacy file, so call it
        off the event loop. Raises NotFound, WeightsChanged."""
        if (file := self.files.get(name) or self.packed.get(name)) is not None:
            return file
        if name not in self.legacy:
            raise NotFound(f"weights file {name[:80]!r}")
        with self._lock:
            if name not in self._measured:
                self._measured[name] = _legacy_file(name, self.legacy[name])
            return self._measured[name]

    def read(self, name: str) -> bytes:
        """The whole of a small file. Raises NotFound."""
        source = self.find(name).source
        with source.opened() as read:
            return read(0, source.size)

    def holds(self, name: str) -> bool:
        """Whether ``find`` answers from memory."""
        return name in self.files or name in self.packed or name in self._measured


def build_catalog(checkpoint: Checkpoint) -> Catalog:
    """Hash everything that is served, once. Raises UnsupportedFamily, MalformedCheckpoint."""
    ends = ends_of(checkpoint)
    sources, packed = _sources(checkpoint, ends), _packed_sources(checkpoint, ends)
    everything = [*sources.values(), *packed.values()]
    progress = Progress("hashing the ends", sum(source.size for source, _ in everything))

    def hashed(sources: Mapping[str, tuple[Source, str]]) -> dict[str, ServedFile]:
        return {
            name: ServedFile(name, source, media_type, hash_source(source, progress))
            for name, (source, media_type) in sources.items()
        }

    legacy = {
        LEGACY_EMBEDDING: HalfSource.of(ends.embedding),
        LEGACY_HEAD: HalfSource.of(ends.head),
    }
    return Catalog(hashed(sources), legacy, hashed(packed))


def _sources(checkpoint: Checkpoint, ends: Ends) -> dict[str, tuple[Source, str]]:
    sources: dict[str, tuple[Source, str]] = {
        EMBEDDING_FILE: (FileSource.of(ends.embedding), _BINARY)
    }
    if not ends.tied:
        sources[HEAD_FILE] = FileSource.of(ends.head), _BINARY
    if ends.head_bias is not None:
        sources[HEAD_BIAS_FILE] = TextSource(as_f32_bytes(ends.head_bias)), _BINARY
    sources[TOKENIZER] = TextSource(tokenizer_json(checkpoint)), "application/json"
    template = chat_template(checkpoint)
    if template is not None:
        sources[CHAT_TEMPLATE] = TextSource(template.encode()), "text/plain; charset=utf-8"
    return sources


def _packed_sources(checkpoint: Checkpoint, ends: Ends) -> dict[str, tuple[Source, str]]:
    tables = {EMBEDDING_FILE: ends.embedding}
    if not ends.tied:
        tables[HEAD_FILE] = ends.head
    names = {f"{file}{Q8_0_SUFFIX}": rows for file, rows in tables.items()}
    found = {name: packed_source(checkpoint.path / name, rows) for name, rows in names.items()}
    return {name: (source, _BINARY) for name, source in found.items() if source is not None}


def _legacy_file(name: str, source: HalfSource) -> ServedFile:
    digests, changed = source.measure()
    return ServedFile(name, source, _BINARY, digests, lossy_values=changed)
