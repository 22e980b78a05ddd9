"""Servers of two tiny models: ``first``, a Qwen2, and ``other``, a Llama."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.serving.models.fixed import fixed

TwoModels = Callable[..., AbstractContextManager[RunningServer]]


@pytest.fixture(scope="session")
def other_path(tiny_family: Callable[[str], Path]) -> Path:
    return tiny_family("llama")


@pytest.fixture(scope="session")
def two_models(tiny_path: Path, other_path: Path) -> TwoModels:
    @contextmanager
    def served(**settings: Any) -> Iterator[RunningServer]:
        models = (f"first={tiny_path}", f"other={other_path}")
        settings.setdefault("dtype", "float32")
        with running_server(models, served=fixed, **settings) as running:
            yield running

    return served


@pytest.fixture(scope="module")
def server(two_models: TwoModels) -> Iterator[RunningServer]:
    with two_models(ollama_listen="127.0.0.1:0") as running:
        yield running
