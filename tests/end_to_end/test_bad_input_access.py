"""Refusals of clients without access, on every path, while a client with access is generating."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.errors import ServerRefused
from split_client.model.connected import new_channel
from split_wire.codec import encode_message
from split_wire.messages import CONTENT_TYPE, Open
from tests.end_to_end.bystander import undisturbed
from tests.server_process import FORWARD_PATH, STREAM_PATH, RunningServer, running_server

TOKEN = "a-token-of-enough-length"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
EVIL = "https://evil.example"


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def other_session(server: RunningServer, tiny_path: Path) -> Iterator[None]:
    with undisturbed(server, tiny_path, **BEARER):
        yield


REFUSED: dict[str, tuple[dict[str, str], int, str]] = {
    "no token": ({}, 401, "unauthorized"),
    "another token": ({"Authorization": "Bearer another-token-of-length"}, 401, "unauthorized"),
    "half of the token": ({"Authorization": f"Bearer {TOKEN[:12]}"}, 401, "unauthorized"),
    "an empty token": ({"Authorization": "Bearer"}, 401, "unauthorized"),
    "the token without its scheme": ({"Authorization": TOKEN}, 401, "unauthorized"),
    "another scheme": ({"Authorization": f"Basic {TOKEN}"}, 401, "unauthorized"),
    "a foreign origin": (BEARER | {"Origin": EVIL}, 403, "forbidden_origin"),
    "the origin of a file": (BEARER | {"Origin": "null"}, 403, "forbidden_origin"),
    "another port's origin": (BEARER | {"Origin": "http://127.0.0.1:1"}, 403, "forbidden_origin"),
    "another site": (BEARER | {"Sec-Fetch-Site": "cross-site"}, 403, "forbidden_origin"),
    "a rebinding host": (BEARER | {"Host": "evil.example"}, 403, "forbidden_host"),
    "a rebinding host and its own origin": (
        BEARER | {"Host": "evil.example", "Origin": "http://evil.example"},
        403,
        "forbidden_host",
    ),
    "a name that begins like loopback": (
        BEARER | {"Host": "127.0.0.1.evil.example"},
        403,
        "forbidden_host",
    ),
}
REQUESTS = {
    "a frame by POST": ("POST", FORWARD_PATH, {"Content-Type": CONTENT_TYPE}),
    "the original protocol by POST": ("POST", FORWARD_PATH, {"Content-Type": "application/json"}),
    "the manifest": ("GET", "/weights/manifest.json", {}),
    "weights": ("GET", "/weights/embedding.bin", {}),
    "a WebSocket for frames": (
        "GET",
        STREAM_PATH,
        {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": "split.v1",
        },
    ),
    "a WebSocket of the original protocol": (
        "GET",
        STREAM_PATH,
        {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
        },
    ),
}


@pytest.mark.parametrize("request_name", REQUESTS)
def test_who_may_not_come_in_is_refused_with_a_code(
    request_name: str, server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    method, path, headers = REQUESTS[request_name]
    got = {}
    with server.client() as client:
        for name, (credentials, _, _) in REFUSED.items():
            content = encode_message(Open()) if method == "POST" else None
            response = client.request(method, path, headers=headers | credentials, content=content)
            error = json.loads(response.content)["error"]
            assert error["message"]
            assert error["retryable"] is False
            got[name] = (response.status_code, error["code"])
    assert got == {name: (status, code) for name, (_, status, code) in REFUSED.items()}
    assert len(server.parts.steps.store) == 1
    # A refusal is no failure of the server.
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("token", [None, "another-token-of-length"])
def test_a_client_without_the_right_token_says_so(
    token: str | None, server: RunningServer, tmp_path: Path
) -> None:
    client = SplitClient(server.url, token=token, cache=tmp_path)
    with pytest.raises(ServerRefused, match="valid token") as caught:
        client.connect()
    assert caught.value.code == "unauthorized"
    assert not list(tmp_path.rglob("*.bin"))


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_token_that_is_no_longer_valid_ends_the_reply_with_its_code(
    transport: str, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SplitClient(
        server.url,
        token=TOKEN,
        cache=tmp_path,
        transport=transport,  # type: ignore[arg-type]
    ) as client:
        revoked = replace(client._wanted, token="revoked-token-of-some-length")
        channel = new_channel(revoked, client.manifest, client._hooks)
        client._connected()._sessions.channel = channel
        with pytest.raises(ServerRefused) as caught:
            client.generate("Hello", max_tokens=4).read()
    assert caught.value.code == "unauthorized"
