"""The manifest: what a device must fetch and do to hold the ends of this model.

Its digest names the model on the wire, so the document depends on nothing but the checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.catalog import HEAD_BIAS_FILE, Catalog, Ends, ends_of
from split_server.checkpoint.families import EMBEDDING_FILE, HEAD_FILE, EndsSpec, family_of
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.slices import CHUNK_BYTES, Progress, hash_files
from split_server.checkpoint.texts import (
    CHAT_TEMPLATE,
    TOKENIZER,
    generation_defaults,
    special_tokens,
)
from split_server.errors import MalformedCheckpoint

MANIFEST_FILE = "manifest.json"
FORMAT = 1
_HALF = 0.5  # frexp's mantissa of powers of two


@dataclass(frozen=True, slots=True)
class Manifest:
    """``data``: the bytes as served; ``digest``: their SHA-256 in hex."""

    document: Mapping[str, Any]
    data: bytes
    digest: str


def build_manifest(checkpoint: Checkpoint, catalog: Catalog) -> Manifest:
    """Describe ``checkpoint``, reading every weights file once.

    Raises UnsupportedFamily, MalformedCheckpoint.
    """
    ends = ends_of(checkpoint)
    try:
        document = _document(checkpoint, catalog, ends)
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedCheckpoint(f"config.json of {checkpoint.name} lacks {error}") from error
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return Manifest(document, data, hashlib.sha256(data).hexdigest())


def _document(checkpoint: Checkpoint, catalog: Catalog, ends: Ends) -> dict[str, Any]:
    config = checkpoint.config
    bos = config.get("bos_token_id")
    return {
        "format": FORMAT,
        "model": {
            "name": checkpoint.name,
            "family": family_of(config).name,
            "licence": checkpoint.licence,
        },
        "hidden_size": int(config["hidden_size"]),
        "vocab_size": ends.embedding.shape[0],
        "num_layers": int(config["num_hidden_layers"]),
        "max_context": int(config["max_position_embeddings"]),
        "eos_token_ids": list(checkpoint.eos_token_ids),
        "bos_token_id": bos if isinstance(bos, int) else None,
        "ends": _ends(ends),
        "tokenizer": TOKENIZER,
        "chat_template": CHAT_TEMPLATE if CHAT_TEMPLATE in catalog.files else None,
        "special_tokens": special_tokens(checkpoint),
        "generation": generation_defaults(checkpoint),
        "files": [_file(catalog, name) for name in sorted(catalog.files)],
        "backbone": {"sha256": _backbone(checkpoint)},
    }


def _ends(ends: Ends) -> dict[str, Any]:
    spec = ends.spec
    return {
        "embedding": {
            "file": EMBEDDING_FILE,
            "dtype": ends.embedding.dtype,
            "rows": ends.embedding.shape[0],
            "scale": spec.embedding_scale,
        },
        "lm_head": {
            "file": EMBEDDING_FILE if ends.tied else HEAD_FILE,
            "dtype": ends.head.dtype,
            "rows": ends.head.shape[0],
            "bias": None if ends.head_bias is None else HEAD_BIAS_FILE,
            "softcap": spec.softcap,
            **_logit_scaling(spec),
        },
    }


def _logit_scaling(spec: EndsSpec) -> dict[str, Any]:
    """Division by a power of two is exactly a multiplication, which every reader knows.

    Readers that know no divisor refuse a ``logit_scale`` of null.
    """
    if math.frexp(spec.logit_divisor)[0] == _HALF:
        return {"logit_scale": spec.logit_scale / spec.logit_divisor}
    return {"logit_scale": None, "logit_divisor": spec.logit_divisor}


def _file(catalog: Catalog, name: str) -> dict[str, Any]:
    file = catalog.files[name]
    return {
        "name": name,
        "size": file.source.size,
        "sha256": file.digests.sha256,
        "chunk_size": CHUNK_BYTES,
        "chunks": list(file.digests.chunks),
    }


def _backbone(checkpoint: Checkpoint) -> str:
    """SHA-256 over the configuration and all weights: another middle is another manifest."""
    files = [checkpoint.path / "config.json", *checkpoint.weight_files]
    total = sum(file.stat().st_size for file in files)
    return hash_files(files, Progress("hashing the weights", total))
