"""The page on the scheme names, for each claim, a command that is there."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_TABLE = (_ROOT / "docs/ckks.md").read_text().partition("## What shows it")[2]
_COMMANDS = re.findall(r"`((?:pytest|node|python) [^`]+)`", _TABLE)


def test_every_claim_has_a_command() -> None:
    rows = [line for line in _TABLE.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 20
    assert [row for row in rows if not re.search(r"\| `(pytest|node|python) ", row)] == []


def test_every_file_of_a_command_is_there() -> None:
    for command in _COMMANDS:
        for path in re.findall(r"\S+\.(?:py|js)\b", command):
            assert (_ROOT / path).is_file(), command
        for module in re.findall(r"-m (\S+)", command):
            assert (_ROOT / f"{module.replace('.', '/')}.py").is_file(), command


def test_every_name_of_a_command_finds_a_test() -> None:
    for path, word in re.findall(r"pytest (\S+) -k (\w+)", " ".join(_COMMANDS)):
        names = re.findall(r"def (test_\w+)", (_ROOT / path).read_text())
        assert [name for name in names if word in name], (path, word)
