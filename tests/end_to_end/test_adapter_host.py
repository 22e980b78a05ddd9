"""The whole path with an encrypted adapter: real server, real adapter host, the device between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.demo_model.evaluation.adapter import expert_cases
from scripts.demo_model.evaluation.reference import adapted_tokens
from scripts.demo_model.training.adapter import load_adapter
from split_client.api import SplitClient
from split_client.crypto.errors import AdapterHostUnreachable
from split_client.transport import http, websocket
from split_client.transport.channel import Patience
from split_server.adapters.folder import open_adapters
from split_server.checkpoint.folder import EMBEDDED
from split_server.serving.adapter_host.startup import EMBEDDED_ADAPTERS
from tests import oracle
from tests.adapter_hosts import RunningHost, made_host, running_host
from tests.end_to_end.test_client_equals_generate import templated, user
from tests.patience import until
from tests.server_process import RunningServer, running_server

_TOKENS = 60


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def hosting() -> Iterator[RunningHost]:
    with running_host(made_host(open_adapters(EMBEDDED_ADAPTERS, 192))) as running:
        yield running


def _reference(messages: list[dict[str, str]], ends: frozenset[int]) -> list[int]:
    adapter = load_adapter(EMBEDDED_ADAPTERS / "banking")
    prompt = templated(EMBEDDED, messages)
    return adapted_tokens(oracle.model(EMBEDDED), adapter, prompt, ends, _TOKENS)


def test_tokens_are_those_of_the_adapter_in_the_clear_in_float64(
    server: RunningServer, hosting: RunningHost, tmp_path: Path
) -> None:
    with SplitClient(
        server.url, cache=tmp_path, adapter="banking", adapter_host=hosting.url
    ) as client:
        for case in expert_cases()[:2]:
            reply = client.chat(case.messages(), max_tokens=_TOKENS)
            reply.read()
            assert reply.token_ids == _reference(case.messages(), client.manifest.eos_token_ids)


def test_tokens_under_masks_are_those_of_the_adapter_in_float64(
    server: RunningServer, tmp_path: Path
) -> None:
    host = made_host(open_adapters(EMBEDDED_ADAPTERS, 192), masks=tmp_path)
    options: dict[str, Any] = {"cache": tmp_path / "cache", "adapter": "banking", "masks": 24}
    with (
        running_host(host) as hosting,
        SplitClient(server.url, adapter_host=hosting.url, **options) as client,
    ):
        for used, case in enumerate(expert_cases()[:2], 1):
            until(lambda: (client.masks or pytest.fail("no host")).ready == 24)
            reply = client.chat(case.messages(), max_tokens=_TOKENS)
            reply.read()
            assert reply.token_ids == _reference(case.messages(), client.manifest.eos_token_ids)
            # The rest of a longer reply is encrypted.
            masks = client.masks
            assert masks is not None
            assert masks.used == 24 * used
        assert masks.encrypted > 0


def test_the_model_server_is_told_nothing_of_the_adapter(
    server: RunningServer,
    hosting: RunningHost,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []
    ways = ((websocket.WebSocketTransport, "send"), (http.HttpTransport, "exchange"))
    for transport, way in ways:
        real = getattr(transport, way)

        def recorded(self: Any, frame: bytes, timeout: float, real: Any = real) -> Any:
            sent.append(frame)
            return real(self, frame, timeout)

        monkeypatch.setattr(transport, way, recorded)
    with SplitClient(server.url, cache=tmp_path, adapter_host=hosting.url) as client:
        chat = client.conversation()
        texts = {}
        for adapter in ("auto", "none"):
            chat.adapter, chat.max_tokens = adapter, _TOKENS
            texts[adapter] = chat.send("What is an overdraft?").read()
    assert texts["auto"] != texts["none"]
    assert len(sent) > 10
    assert not [frame for frame in sent if b"banking" in frame or b"adapter" in frame]


def test_auto_leaves_a_general_question_to_the_model_alone(
    server: RunningServer, hosting: RunningHost, tmp_path: Path
) -> None:
    messages = [user("What is split inference?")]
    with SplitClient(
        server.url, cache=tmp_path, adapter="auto", adapter_host=hosting.url
    ) as client:
        reply = client.chat(messages, max_tokens=_TOKENS)
        reply.read()
        assert reply.token_ids == oracle.greedy(EMBEDDED, templated(EMBEDDED, messages), _TOKENS)


def test_a_reply_stops_when_the_host_is_lost(server: RunningServer, tmp_path: Path) -> None:
    adapters = open_adapters(EMBEDDED_ADAPTERS, 192)
    patience = Patience(connect=5.0, total=0.2)
    options: dict[str, Any] = {"cache": tmp_path, "patience": patience, "adapter": "banking"}
    with running_host(made_host(adapters)) as hosting:
        client = SplitClient(server.url, adapter_host=hosting.url, **options)
        client.connect()
        reply = client.chat([user("What is an overdraft?")], max_tokens=_TOKENS)
        next(iter(reply.events()))
    with pytest.raises(AdapterHostUnreachable, match="the reply stops"):
        reply.read()
    assert len(reply.token_ids) < _TOKENS // 2
    client.close()
