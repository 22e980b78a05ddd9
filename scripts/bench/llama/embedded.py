"""The embedded model as a GGUF file of float32."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from scripts.bench.shapes import EMBEDDED
from tests.gguf_files import as_gguf


def embedded_gguf(folder: Path) -> Path:
    """The file, made in ``folder``."""
    whole = folder / "embedded"
    whole.mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(EMBEDDED / name, whole / name)
    settings = json.loads((EMBEDDED / "tokenizer_config.json").read_text())
    (whole / "chat_template.jinja").write_text(settings["chat_template"])
    tensors = load_file(EMBEDDED / "model.safetensors")
    wide = {name: values.astype(np.float32) for name, values in tensors.items()}
    save_file(wide, whole / "model.safetensors", metadata={"format": "pt"})
    return as_gguf(whole, folder / "embedded.gguf", named="embedded")
