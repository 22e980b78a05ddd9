"""Milliseconds of a processor per kilobyte, out and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from scripts.bench.redaction.values import spellings, values
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.undoing.beginnings import Beginnings
from split_client.redaction.undoing.stream import Undo


def speeds(folder: Path, count: Callable[[str], int], rounds: int = 5) -> dict[str, float]:
    """Of the pages in ``folder`` with a value in every kilobyte; ``count``: tokens of a text."""
    made = texts(folder)
    size = sum(len(page.encode()) for page in made) / 1000
    settings = RedactionSettings(regions=("DE",))
    Redactor(settings).redacted(made[0])
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, taken in _round(Redactor(settings, count=count), made).items():
            found.setdefault(name, []).append(taken / size)
    return {name: median(times) for name, times in found.items()}


def texts(folder: Path) -> list[str]:
    """The pages in ``folder`` in parts of a kilobyte, each with a name and a number."""
    pages = [page for path in sorted(folder.glob("*.md")) for page in _pages(path)]
    written = _written(pages)
    return [f"{page} Anna Schmidt: {each}" for page, each in zip(pages, written, strict=True)]


def _round(redactor: Redactor, texts: list[str]) -> dict[str, float]:
    """Milliseconds that each way took."""
    first = _timed(lambda: _out(redactor, texts))
    known = _timed(lambda: _out(redactor, texts))
    sent = _out(redactor, texts)
    return {
        "out, first time": first,
        "out, known": known,
        "back": _timed(lambda: _back(redactor, sent, 1 << 20)),
        "back, four characters at a time": _timed(lambda: _back(redactor, sent, 4)),
    }


def _pages(path: Path) -> list[str]:
    text = path.read_text("utf-8")[:40_000]
    return [text[at : at + 1000] for at in range(0, len(text), 1000)]


def _written(pages: list[str]) -> list[str]:
    # Twenty numbers come again and again, as they do in a chat.
    known = [spellings(value.written)[number % 4] for number, value in enumerate(values(20, 7))]
    return [known[number % len(known)] for number in range(len(pages))]


def _out(redactor: Redactor, texts: list[str]) -> list[str]:
    return [redactor.redacted(text) for text in texts]


def _back(redactor: Redactor, texts: list[str], size: int) -> None:
    # All replies of a chat share what is known of its surrogates.
    beginnings = Beginnings(redactor.surrogates)
    for text in texts:
        undo = Undo(redactor.surrogates, redactor.settings.regions, beginnings=beginnings)
        for at in range(0, len(text), size):
            undo.push(text[at : at + size])
        undo.finish()


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000
