"""Shared parts of the tests of the weight store: a model, a server of it, tabs of one browser."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.exhaustive import EXHAUSTIVE
from tests.web.browsing import Browser
from tests.web.weights.server import StorePage, WeightsServer, bundled, model_of

CHUNK = 128 << 10
# Shards of an odd number of rows, so that chunks straddle their border.
MODEL = model_of(rows=5003, hidden=96, chunk=CHUNK)
KINDS = ("opfs", "indexeddb")
# Where the other kind takes the same way through the code.
SOME_KINDS = KINDS if EXHAUSTIVE else KINDS[1:]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundled(tmp_path_factory.mktemp("weights-page"))


@pytest.fixture
def server(scripts: Path) -> Iterator[WeightsServer]:
    with WeightsServer(MODEL, scripts).running() as running:
        yield running


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


def check_whole(tab: StorePage, server: WeightsServer) -> None:
    """What is stored is what the server has, byte for byte."""
    digest = server.model.digest
    assert (
        tab.call("rows", digest=digest) == sha256(server.model.files["embedding.bin"]).hexdigest()
    )
    assert tab.call("texts", digest=digest) == '{"tokenizer": true}'
    (listed,) = tab.call("list")
    assert listed["complete"]
    assert listed["bytes"] >= server.model.size
