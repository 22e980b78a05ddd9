"""Words about privacy: no page and no text of a program says what an attack has refuted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PLACES = ("docs", "device_client", "common", "server", "web/src")
_SUFFIXES = {".md", ".py", ".js", ".jsx"}
_BUILT = {"web_app", "node_modules", "__pycache__"}
REFUTED = (
    r"noise (that )?hides the message",
    r"noise is for one conversation",
    r"there is nothing to average",
    r"(recovered|recovery)[^.]{0,40} (is |: )?measured by .?split-client audit",
    r"measured recovery: split-client audit",
)


def _pages() -> list[Path]:
    inside = (path for place in _PLACES for path in (_ROOT / place).rglob("*"))
    pages = [path for path in inside if path.suffix in _SUFFIXES and not _BUILT & {*path.parts}]
    return [*_ROOT.glob("*.md"), *sorted(pages)]


def _words(path: Path) -> str:
    return " ".join(path.read_text().replace("*", "").split())


@pytest.mark.parametrize("claim", REFUTED)
def test_nothing_says_what_an_attack_has_refuted(claim: str) -> None:
    pages = _pages()
    assert len(pages) > 100
    said = re.compile(claim, re.IGNORECASE)
    assert not [path for path in pages if said.search(_words(path))]


@pytest.mark.parametrize("page", ["docs/privacy.md", "docs/audit.md"])
def test_the_figures_of_the_audit_stand_beside_those_of_stronger_attacks(page: str) -> None:
    words = _words(_ROOT / page)
    figures = ["77%", "40%", "8.3%", "11% of the sensitive strings", "97%", "16 system prompts"]
    figures += ["56%", "65%"]
    assert [figure for figure in figures if figure not in words] == []


@pytest.mark.parametrize("page", ["docs/privacy.md", "docs/audit.md"])
def test_every_command_that_shows_a_claim_is_there(page: str) -> None:
    named = re.findall(r"`pytest ([^`]+)`", (_ROOT / page).read_text())
    paths = [path for command in named for path in command.split() if path.startswith("tests/")]
    assert len(paths) >= 5
    assert [path for path in paths if not (_ROOT / path).exists()] == []
