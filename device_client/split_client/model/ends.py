"""The ends of a model, opened from the store: tokenizer, template, embedding, LM head."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ManifestInvalid, TemplateFailed, TemplateMissing
from split_client.generation.embedding import Embedding
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.head.compact.file import PLANE_FILE
from split_client.generation.head.compact.head import CompactLMHead
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.head import HeadKind, LMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.file import FILE_NAME as SCREEN_FILE
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling.params import SamplingParams
from split_client.grammar.forms import Forms
from split_client.model.tokenizer import ModelTokenizer
from split_client.template.template import ChatTemplate
from split_client.weights.manifest import Manifest
from split_client.weights.store import StoredModel
from split_wire.floats import FloatName
from split_wire.tensor import WireDtype

_LARGE_HEAD = 32 << 20  # bytes
_DERIVED: dict[HeadKind, str | None] = {"exact": SCREEN_FILE, "compact": PLANE_FILE, "full": None}


class Embedder:
    """Token ids to the rows that travel, for whatever dtype a session travels in."""

    def __init__(self, rows: WeightRows, scale: float | None) -> None:
        self._rows, self._scale = rows, scale
        self._tables: dict[FloatName, Embedding] = {}

    def lookup(self, ids: list[int], dtype: WireDtype) -> NDArray[np.float32]:
        """Rows float32 [n, H]; they are rounded to ``dtype`` unless that has scales of its own."""
        name: FloatName = "f32" if dtype == "i8" else dtype
        if name not in self._tables:
            self._tables[name] = Embedding(self._rows, self._scale, name)
        return self._tables[name].lookup(ids, name)


@dataclass(frozen=True, slots=True)
class DeviceEnds:
    """The ends of one model on the device; close them when done.

    ``forms``: those that a reply can be asked to have.
    """

    manifest: Manifest
    tokenizer: ModelTokenizer
    embedder: Embedder
    head: LMHead
    defaults: SamplingParams
    chat_template: ChatTemplate | None
    forms: Forms

    @classmethod
    def open(
        cls, stored: StoredModel, *, lm_head: HeadKind = "exact", trusted: bool = False
    ) -> DeviceEnds:
        """Map the weights and read the texts of a pulled model.

        ``trusted``: whoever runs this process chose the model, whose tokenizer then runs in it.

        Raises ManifestInvalid, TokenizerInvalid, TemplateFailed and what the generation rooms
        raise.
        """
        manifest = stored.manifest
        embedding = WeightRows.open(
            stored.path(manifest.embedding.file),
            manifest.embedding.dtype,
            manifest.embedding.rows,
            manifest.hidden_size,
        )
        tokenizer = ModelTokenizer.open(
            stored.path(manifest.tokenizer), manifest.vocab_size, trusted=trusted
        )
        return cls(
            manifest,
            tokenizer,
            Embedder(embedding, manifest.embedding.scale),
            _open_head(stored, lm_head),
            _defaults(manifest),
            _open_template(stored),
            Forms(tokenizer.to_json, manifest.vocab_size, manifest.eos_token_ids),
        )

    def template(self) -> ChatTemplate:
        """The chat template. Raises TemplateMissing."""
        if self.chat_template is None:
            raise TemplateMissing
        return self.chat_template

    def close(self) -> None:
        """End the processes of tokenizer and template."""
        self.tokenizer.close()
        if self.chat_template is not None:
            self.chat_template.close()


def derives(stored: StoredModel, lm_head: HeadKind) -> bool:
    """Whether opening will derive a file of the LM head, which takes a noticeable time."""
    name = _DERIVED[lm_head]
    size = stored.manifest.file(stored.manifest.head.file).size
    return name is not None and size >= _LARGE_HEAD and not stored.path(name).exists()


def _open_head(stored: StoredModel, kind: HeadKind) -> LMHead:
    manifest, entry = stored.manifest, stored.manifest.head
    rows = WeightRows.open(stored.path(entry.file), entry.dtype, entry.rows, manifest.hidden_size)
    spec = HeadSpec(
        bias=None if entry.bias is None else np.fromfile(stored.path(entry.bias), "<f4"),
        softcap=entry.softcap,
        scale=entry.logit_scale,
        divide=entry.divide,
    )
    source = bytes.fromhex(manifest.file(entry.file).sha256)
    if kind == "compact":
        return CompactLMHead.open(rows, spec, plane_path=stored.folder / PLANE_FILE, source=source)
    screen_path = stored.folder / SCREEN_FILE if kind == "exact" else None
    return ExactLMHead.open(rows, spec, screen_path=screen_path, source=source)


def _defaults(manifest: Manifest) -> SamplingParams:
    """The sampling that the model's makers recommend; greedy where they do not say."""
    named = manifest.generation
    try:
        return SamplingParams(
            temperature=named.get("temperature", 0.0),
            top_k=int(named.get("top_k", 0)),
            top_p=named.get("top_p", 1.0),
            min_p=named.get("min_p", 0.0),
            repetition_penalty=named.get("repetition_penalty", 1.0),
        )
    except InvalidSamplingParameter as error:
        raise ManifestInvalid(str(error)) from error


def _open_template(stored: StoredModel) -> ChatTemplate | None:
    name = stored.manifest.chat_template
    if name is None:
        return None
    path: Path = stored.path(name)
    try:
        source = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateFailed("its file cannot be read; pull the weights again") from error
    return ChatTemplate(source, stored.manifest.special_tokens)
