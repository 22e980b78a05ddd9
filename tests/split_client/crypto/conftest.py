"""A host whose adapter the tests of this room use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapter_hosts import RunningHost, made_adapter, made_host, running_host
from tests.split_client.crypto.correcting import FILE


@pytest.fixture(scope="module")
def served() -> Iterator[RunningHost]:
    with running_host(made_host({"made": FILE, "wide": made_adapter("wide", 96)})) as running:
        yield running
