"""English prose: pages of this repository, without code, tables, pictures and links."""

from __future__ import annotations

import re
from typing import Any

from scripts.paths import ROOT

_PAGES = ("docs/ckks.md", "docs/engine.md", "docs/lm-heads.md", "docs/memory.md", "docs/pairing.md")
_WINDOW, _WINDOWS = 512, 6


def windows(tokenizer: Any) -> list[list[int]]:
    """Six windows of 512 ids, each from the beginning of a page or going on with the last."""
    ids: list[int] = tokenizer(prose(), add_special_tokens=False)["input_ids"]
    parts = [ids[at * _WINDOW : (at + 1) * _WINDOW] for at in range(_WINDOWS)]
    if len(parts[-1]) < _WINDOW:
        raise SystemExit("the pages have become too short for the text of this row")
    return parts


def prose() -> str:
    """Paragraphs of the pages, one after the other."""
    return "\n\n".join(plain((ROOT / page).read_text("utf-8")) for page in _PAGES)


def plain(page: str) -> str:
    """The paragraphs of a Markdown page as plain text, a line each."""
    page = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    paragraphs = [" ".join(part.split()) for part in page.split("\n\n")]
    kept = [part for part in paragraphs if part and part[0] not in "#|!-<" and len(part) > 80]
    text = "\n".join(kept)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*`]", "", text)
