"""Fixtures that many rooms share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.checkpoints import FAMILIES, tiny_checkpoint


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers and clients keep weights and pairings where the tests end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("SPLIT_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", params=FAMILIES)
def family_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random checkpoint of each supported family."""
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp(request.param) / request.param)


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen2 checkpoint."""
    return tiny_checkpoint("qwen2", tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture(scope="session")
def tiny_family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A tiny random checkpoint of the family that is named, made once."""

    @cache
    def make(family: str) -> Path:
        return tiny_checkpoint(family, tmp_path_factory.mktemp(family) / family)

    return make
