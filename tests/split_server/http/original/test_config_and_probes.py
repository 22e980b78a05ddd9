"""What a client of the original protocol asks beside its steps."""

from __future__ import annotations

import httpx
import pytest

from tests import oracle
from tests.split_server.http.original.setups import Setup
from tests.split_server.http.original.upstream_client import (
    TextSocket,
)


def test_the_config_is_the_same_over_http_and_websocket(open_setup: Setup) -> None:
    config = httpx.get(open_setup.base + "/api/v1/split/config").json()
    with TextSocket(open_setup.base) as client:
        assert client.ask({"type": "config"}) == {"type": "config"} | config
        assert client.ask({"type": "ping"}) == {"type": "pong"}
    info = open_setup.service.info
    assert config["model"] == info.name
    assert config["vocab_size"] == oracle.model(open_setup.path).config.vocab_size
    assert config["hidden_dim"] == open_setup.hidden
    assert config["num_layers"] == 3
    assert config["eos_token_ids"] == list(info.eos_token_ids)
    assert config["expert_keywords"] == {"banking": ["loan"]}
    assert set(config) >= {
        "he_active",
        "dp_sigma",
        "client_dp_sigma",
        "dp_epsilon",
        "dp_sensitivity",
    }


def test_tokenize_answers_with_the_ids_when_it_is_allowed(open_setup: Setup) -> None:
    wanted = {
        "token_ids": open_setup.ids("Grüße, 東京!"),
        "length": len(open_setup.ids("Grüße, 東京!")),
    }
    url = open_setup.base + "/api/v1/split/tokenize"
    assert httpx.post(url, json={"text": "Grüße, 東京!"}).json() == wanted
    with TextSocket(open_setup.base) as client:
        reply = client.ask({"type": "tokenize", "text": "Grüße, 東京!"})
    assert reply == {"type": "tokenize"} | wanted


def test_tokenize_is_refused_by_default(setup: Setup) -> None:
    response = httpx.post(setup.base + "/api/v1/split/tokenize", json={"text": "hello"})
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "tokenize_disabled"
    with TextSocket(setup.base) as client:
        reply = client.ask({"type": "tokenize", "text": "hello"})
        assert (reply["type"], reply["code"]) == ("error", "tokenize_disabled")
        assert client.ask({"type": "ping"}) == {"type": "pong"}


def test_verify_hashes_the_row_that_a_client_holds(open_setup: Setup) -> None:
    url = open_setup.base + "/api/v1/split/verify"
    for probe in ("hello", "What is"):
        ids = open_setup.ids(probe)
        table = oracle.model(open_setup.path).get_input_embeddings().weight
        row = table[ids[0], :8].detach().half().float().tolist()
        assert httpx.post(url, json={"probe_text": probe}).json() == {
            "token_ids": ids,
            "embed_hash": sum(round(value * 10_000) for value in row),
            "vocab_size": len(table),
            "hidden_dim": open_setup.hidden,
            "status": "ok",
        }
    assert httpx.post(url, json={"probe_text": ""}).json()["status"] == "empty"
    assert httpx.post(url, json={}).json()["token_ids"] == open_setup.ids("hello")


def test_verify_answers_only_the_public_probe_by_default(setup: Setup) -> None:
    url = setup.base + "/api/v1/split/verify"
    assert httpx.post(url, json={"probe_text": "hello"}).json()["status"] == "ok"
    response = httpx.post(url, json={"probe_text": "my secret"})
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "tokenize_disabled"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"probe_text": 5}', b'{"probe_text": "' + b"x" * 300 + b'"}']
)
def test_a_malformed_probe_is_refused(setup: Setup, body: bytes) -> None:
    response = httpx.post(setup.base + "/api/v1/split/verify", content=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "malformed_message"


def test_a_probe_that_is_too_large_is_refused(setup: Setup) -> None:
    response = httpx.post(setup.base + "/api/v1/split/verify", content=b" " * 70_000)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "frame_too_large"
