"""One real server with the embedded model, and its ends opened, for all tests of the audit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from split_client.api import SplitClient
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.device.prompts import built_in_questions
from split_client.audit.reach import Reach
from split_client.model.ends import DeviceEnds
from split_client.transport.endpoint import Endpoint
from tests.server_process import RunningServer, running_server
from tests.split_client.audit.learning import LearntOnce


@pytest.fixture(scope="package")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="package")
def reach(server: RunningServer) -> Reach:
    return Reach(Endpoint.parse(server.url))


@pytest.fixture(scope="package")
def ends(server: RunningServer) -> Iterator[DeviceEnds]:
    with SplitClient(server.url) as client:
        yield client.ends


@pytest.fixture(scope="package")
def public(ends: DeviceEnds) -> PublicModel:
    return PublicModel(ends, [one.question for one in built_in_questions()])


@pytest.fixture(scope="package")
def learnt_once() -> Iterator[LearntOnce]:
    """Of public texts, for all audits that use it."""
    with pytest.MonkeyPatch.context() as patch:
        yield LearntOnce(patch)
