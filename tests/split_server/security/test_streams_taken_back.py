"""Tokens that are taken back while replies of the text APIs arrive, at both listeners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server

_ALICE, _BOB = "alice-has-this-token", "bob-has-that-token-1"
_BOTH = f"alice {_ALICE}\nbob {_BOB}\n"
_HELLO = [{"role": "user", "content": "Hello"}]
_GOES_ON = {"temperature": 1, "ignore_eos": True}
# Long, however soon the model would end by itself.
_ENDLESS = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}
_FORMAT = {"type": "json_schema", "name": "n", "schema": _ENDLESS}
_STREAMS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": _HELLO, **_GOES_ON},
    "/v1/completions": {"prompt": "Hello", "max_tokens": 1500, **_GOES_ON},
    "/v1/responses": {"input": "Hello", "text": {"format": _FORMAT}, "store": True},
    "/v1/messages": {
        "messages": _HELLO,
        "max_tokens": 1500,
        "output_config": {"format": {"type": "json_schema", "schema": _ENDLESS}},
    },
    "/api/chat": {"model": "gatelink", "messages": _HELLO, "format": _ENDLESS},
    "/api/generate": {"model": "gatelink", "prompt": "Hello", "format": _ENDLESS},
    "/api/extra/generate/stream": {"prompt": "Hello", "max_length": 1500, "bypass_eos": True},
}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(_BOTH)
    return path


@pytest.fixture(scope="module")
def server(tokens: Path) -> Iterator[RunningServer]:
    with running_server(token_file=tokens, ollama_listen="127.0.0.1:0") as running:
        yield running


def _client(server: RunningServer, path: str, token: str) -> httpx.Client:
    by_the_side = path in ("/api/chat", "/api/generate")
    port = server.ollama_port if by_the_side else server.port
    headers = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{port}"
    return httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE)


@pytest.mark.parametrize("path", _STREAMS)
def test_a_reply_to_a_token_that_is_taken_back_breaks_off(
    server: RunningServer, tokens: Path, path: str
) -> None:
    asked = _STREAMS[path] | {"stream": True}
    compat = server.parts.compat
    assert compat is not None
    with _client(server, path, _BOB) as bob:
        with bob.stream("POST", path, json=asked) as answer:
            arriving = answer.iter_lines()
            next(arriving)
            tokens.write_text(f"alice {_ALICE}\n")
            # Nothing more is told, not even that it ended.
            with pytest.raises(httpx.TransportError):
                list(arriving)
        until(lambda: not compat.generator.places.running)
        assert bob.post(path, json=asked).status_code == 401
        tokens.write_text(_BOTH)
        until(lambda: bob.post(path, json={}).status_code != 401)
