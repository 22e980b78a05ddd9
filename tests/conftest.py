"""Fixtures that many rooms share, and the order of the files where several processes share them."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.checkpoints import FAMILIES, tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.real_checkpoint import real_checkpoint

_TESTS = Path(__file__).parent
# What a test costs, in tests of one object: with a browser, a server, or slow as it says itself.
_COSTS = {"web": 12, "end_to_end": 6, "embedded": 6, "real_model": 12}
_SLOW = 150

# How long an example takes says how busy the machine is.
settings.register_profile(
    "tests",
    deadline=None,
    max_examples=100 if EXHAUSTIVE else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")


def pytest_configure() -> None:
    """Imports leave nothing behind that is worth looking for while tests are collected."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported stays; only what tests make is looked through."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes begin with the files that take long, so that they end together."""
    if not hasattr(config, "workerinput"):
        return
    costs: Counter[Path] = Counter()
    for item in items:
        room = item.path.relative_to(_TESTS).parts[0]
        slow = item.get_closest_marker("slow")
        costs[item.path] += _SLOW if slow else _COSTS.get(room, 1)
    items.sort(key=lambda item: (-costs[item.path], item.path))


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


@pytest.fixture(scope="session")
def real_path(pytestconfig: pytest.Config) -> Path:
    """SmolLM2-135M-Instruct as a checkpoint's folder; the first time it is downloaded (93 MB)."""
    return real_checkpoint(pytestconfig)
