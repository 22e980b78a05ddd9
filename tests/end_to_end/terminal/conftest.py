"""A server with the embedded model, what it answers, and a chat with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import ChatSession, SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests.end_to_end.terminal.commands import QUESTION
from tests.server_process import RunningServer, running_server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _environment(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_CACHE", str(cache))
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))


@pytest.fixture(scope="module")
def answer(server: RunningServer, cache: Path) -> str:
    """What the model says to QUESTION at greedy."""
    with SplitClient(server.url, cache=cache) as client:
        return client.chat([{"role": "user", "content": QUESTION}], SamplingParams()).read()


@pytest.fixture(scope="module")
def client(server: RunningServer, cache: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=cache) as client:
        yield client


@pytest.fixture
def chat(client: SplitClient) -> tuple[SplitClient, ChatSession]:
    session = client.conversation()
    session.params = SamplingParams()
    return client, session


@pytest.fixture(scope="module")
def beginning(client: SplitClient) -> str:
    """The first words of what the model says to QUESTION at greedy."""
    message = [{"role": "user", "content": QUESTION}]
    return client.chat(message, SamplingParams(), max_tokens=4).read()
