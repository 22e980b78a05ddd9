"""The texts of a checkpoint that a device needs: tokenizer, chat template, special tokens."""

from __future__ import annotations

import json
import math
from typing import Any

from split_files import read_regular
from split_server.checkpoint.folder import MAX_TEXT_BYTES, Checkpoint
from split_server.errors import MalformedCheckpoint

TOKENIZER = "tokenizer.json"
CHAT_TEMPLATE = "chat_template.jinja"
_TOKENIZER_CONFIG = "tokenizer_config.json"
_DEFAULT_TEMPLATE = "default"


def tokenizer_json(checkpoint: Checkpoint) -> bytes:
    """tokenizer.json with BPE merges as ``"left right"`` strings, which every reader understands.

    Merges stay pairs where a piece holds a space, because the string would be ambiguous; a file
    without anything to rewrite is given as it is. Raises MalformedCheckpoint.
    """
    path = checkpoint.path / TOKENIZER
    try:
        data = read_regular(path, MAX_TEXT_BYTES)
        document = json.loads(data)
    except FileNotFoundError as error:
        raise MalformedCheckpoint(
            f"{checkpoint.name} has no {TOKENIZER}, which the device needs; save it with a fast "
            "tokenizer of transformers"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedCheckpoint(f"{TOKENIZER} of {checkpoint.name} is not readable") from error
    model = document.get("model") if isinstance(document, dict) else None
    if not isinstance(model, dict):
        raise MalformedCheckpoint(f"{TOKENIZER} of {checkpoint.name} describes no tokenizer")
    merges = _joined(model.get("merges"))
    if merges is None:
        return data
    model["merges"] = merges
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _joined(merges: object) -> list[str] | None:
    if not isinstance(merges, list) or not merges:
        return None
    joined = []
    for merge in merges:
        match merge:
            case [str(left), str(right)] if " " not in left and " " not in right:
                joined.append(f"{left} {right}")
            case _:
                return None
    return joined


def chat_template(checkpoint: Checkpoint) -> str | None:
    """The template's source: its own file, else the one (or the "default" one) of the tokenizer's
    configuration; None when the checkpoint has none."""
    path = checkpoint.path / CHAT_TEMPLATE
    if path.is_file():
        try:
            return read_regular(path, MAX_TEXT_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MalformedCheckpoint(f"{CHAT_TEMPLATE} is not readable text") from error
    value = (checkpoint.read_json(_TOKENIZER_CONFIG) or {}).get("chat_template")
    if isinstance(value, list):
        named = [entry for entry in value if isinstance(entry, dict)]
        value = {entry.get("name"): entry.get("template") for entry in named}
    if isinstance(value, dict):
        value = value.get(_DEFAULT_TEMPLATE)
    return value if isinstance(value, str) else None


def special_tokens(checkpoint: Checkpoint) -> dict[str, str]:
    """``bos_token``, ``eos_token`` and their like by name, as a chat template may use them."""
    files = ("special_tokens_map.json", _TOKENIZER_CONFIG)
    named: dict[str, str] = {}
    for file in files:
        for name, value in (checkpoint.read_json(file) or {}).items():
            text = value.get("content") if isinstance(value, dict) else value
            if name.endswith("_token") and isinstance(text, str):
                named[name] = text
    return dict(sorted(named.items()))


def generation_defaults(checkpoint: Checkpoint) -> dict[str, Any]:
    """The sampling settings that generation_config.json names, unchanged."""
    settings = checkpoint.read_json("generation_config.json") or {}
    known = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
    return {name: settings[name] for name in known if _is_number(settings.get(name))}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and type(value) is not bool and math.isfinite(value)
