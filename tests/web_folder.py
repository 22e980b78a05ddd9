"""A made-up folder of a built web app, for what does not look into its files."""

from __future__ import annotations

import hashlib
from pathlib import Path

_PAGE = "<!doctype html><title>t</title><script type=module src=/app/%BUILD%/app.js></script>"
_CONTENTS = {
    "index.html": _PAGE,
    "pair.html": _PAGE,
    "service-worker.js": "const build = '%BUILD%';\n",
    "manifest.webmanifest": '{"name": "Gatelink"}',
    "app/app.js": "// '%BUILD%' stays here\n" + "console.assert(true);\n" * 100,
    "app/app.css": "body { margin: 0 }\n",
}


def web_folder(parent: Path) -> Path:
    """Pages, a script, a style, a kernel and an icon below ``parent``."""
    folder = parent / "web_app"
    for name, text in _CONTENTS.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "app/kernels.wasm").write_bytes(b"\0asm\1\0\0\0")
    (folder / "icons").mkdir()
    (folder / "icons/icon.png").write_bytes(hashlib.shake_128(b"icon").digest(500))
    return folder
