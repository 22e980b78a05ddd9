"""A parser for the example declaration, away from the tester's own configuration."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from split_settings import add_arguments
from tests.split_settings.example import Example


@pytest.fixture
def parse() -> Callable[..., argparse.Namespace]:
    def run(*flags: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        add_arguments(parser, Example)
        return parser.parse_args(flags)

    return run


@pytest.fixture(autouse=True)
def _no_user_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the tester's own configuration file out of the tests."""
    missing = tmp_path / "no-such-folder" / "config.toml"
    monkeypatch.setattr("split_settings.toml_file.default_config_path", lambda: missing)
