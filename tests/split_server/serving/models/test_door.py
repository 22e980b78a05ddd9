"""Requests below ``/m/NAME`` over a real server with two models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from transformers import AutoTokenizer
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.serving.config import ServerConfig
from split_server.serving.opened import open_all
from split_wire.client import ClientProtocol, SessionOpened, StepFailed
from split_wire.codec import encode_message
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Ping, Pong
from tests import oracle
from tests.patience import PATIENCE
from tests.server_process import FORWARD_PATH, STREAM_PATH, RunningServer
from tests.split_server.conftest import TOKEN
from tests.split_server.serving.models.conftest import TwoModels
from tests.split_server.serving.models.fixed import LOADING, FixedRooms

HELLO = [{"role": "user", "content": "What is split inference?"}]
COUNT = 16
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


def expected(path: Path) -> list[int]:
    render = AutoTokenizer.from_pretrained(path).apply_chat_template
    ids = list(render(HELLO, add_generation_prompt=True, return_dict=False))
    return oracle.greedy(path, ids, COUNT)


def state_of(server: RunningServer, name: str) -> dict[str, Any]:
    with server.client() as client:
        models = client.get("/api/v1/models").json()["models"]
    return next(model for model in models if model["name"] == name)


def keeper_of(server: RunningServer) -> FixedRooms:
    rooms = server.app.rooms
    assert isinstance(rooms, FixedRooms)
    return rooms


def unload(server: RunningServer, name: str) -> None:
    with server.client() as client:
        client.post(f"/api/v1/models/{name}/unload").raise_for_status()


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_tokens_of_both_models_are_those_of_generate(
    server: RunningServer, tiny_path: Path, other_path: Path, tmp_path: Path, transport: Any
) -> None:
    for path, below in ((tiny_path, ""), (other_path, "/m/other"), (tiny_path, "/m/first")):
        where = f"{server.url}{below}"
        with SplitClient(where, cache=tmp_path, transport=transport) as client:
            reply = client.chat(HELLO, SamplingParams(), max_tokens=COUNT)
            reply.read()
            assert client.stats.transport == transport
        assert reply.token_ids == expected(path), below


def test_text_apis_below_a_name_are_those_of_that_model(
    server: RunningServer, other_path: Path
) -> None:
    wanted = oracle.tokenizer(other_path).decode(expected(other_path), skip_special_tokens=True)
    asked = {"messages": HELLO, "temperature": 0, "max_tokens": COUNT}
    with server.client() as client:
        answer = client.post("/m/other/v1/chat/completions", json=asked).json()
        listed = client.get("/m/other/v1/models").json()["data"]
        socket = client.get("/m/other/api/v1/model").json()
    assert answer["choices"][0]["message"]["content"] == wanted
    assert (answer["model"], [one["id"] for one in listed]) == ("other", ["other"])
    assert socket["result"] == "other"


def test_a_list_shows_each_model_and_loads_none(two_models: TwoModels, other_path: Path) -> None:
    with two_models() as server, server.client() as client:
        listed = client.get("/api/v1/models").json()
        for path in (
            "/v1/models",
            "/api/tags",
            "/api/ps",
            "/m/other/v1/models",
            "/m/other/api/tags",
        ):
            client.get(path).raise_for_status()
        for path in ("/m/other/", "/m/other", "/m/other/nothing", "/m/other/m/first/v1/models"):
            assert client.get(path).status_code == 404
        for path in ("/m/other/metrics", "/m/other/api/v1/memory", "/m/other/v1/stats"):
            assert client.get(path).status_code == 404
        assert client.post("/m/other/v1/models").status_code == 405
        before, again = client.get("/api/v1/models").json(), None
        client.post("/api/v1/models/other/load").raise_for_status()
        again = client.get("/m/other/api/v1/models").json()
    first, other = listed["models"]
    assert (listed["version"], listed["operator"]) == (1, True)
    assert (first["name"], first["path"], first["first"], first["state"]) == (
        "first",
        "/m/first",
        True,
        "loaded",
    )
    assert first["manifest"] == server.manifest
    size = (other_path / "model.safetensors").stat().st_size
    assert other == {
        "name": "other",
        "path": "/m/other",
        "first": False,
        "state": "unloaded",
        "manifest": None,
        "family": "llama",
        "layers": 3,
        "context": 512,
        "dtype": None,
        "bytes": size,
        "seconds": None,
    }
    assert before["models"][1] == other
    assert again["models"][1]["state"] == "loaded"
    assert again["models"][1]["dtype"] == "f32"
    assert again["models"][1]["seconds"] is not None


def device_of(path: Path) -> ClientProtocol:
    opened = open_all(ServerConfig(model=str(path)))
    return ClientProtocol(opened.manifest.document["hidden_size"], opened.manifest.digest)


def test_a_socket_is_taken_before_its_model_is_there_and_outlives_it(
    two_models: TwoModels, other_path: Path
) -> None:
    with two_models() as server:
        url = f"ws://127.0.0.1:{server.port}/m/other{STREAM_PATH}?s=anything"
        with connect(
            url, subprotocols=[Subprotocol(SUBPROTOCOL)], proxy=None, compression=None
        ) as socket:

            def exchange(device: ClientProtocol, frame: bytes) -> object:
                socket.send(frame)
                answer = socket.recv(PATIENCE)
                assert isinstance(answer, bytes)
                return device.receive(answer)

            device, again = device_of(other_path), device_of(other_path)
            socket.send(encode_message(Ping()))
            assert socket.recv(PATIENCE) == encode_message(Pong())
            assert state_of(server, "other")["state"] == "unloaded"
            assert isinstance(exchange(device, device.open()), SessionOpened)
            assert state_of(server, "other")["state"] == "loaded"
            unload(server, "other")
            rows = oracle.embeddings(other_path, [5, 6, 7]).numpy()
            failed = exchange(device, device.step(0, rows))
            assert isinstance(failed, StepFailed)
            assert failed.failure.code == "unknown_session"
            assert state_of(server, "other")["state"] == "unloaded"
            assert isinstance(exchange(again, again.open()), SessionOpened)
        assert state_of(server, "other")["state"] == "loaded"


@pytest.mark.parametrize("path", [STREAM_PATH, "/api/v1/generate/stream"])
def test_a_socket_that_holds_state_of_its_model_closes_with_it(
    two_models: TwoModels, path: str
) -> None:
    with two_models() as server:
        url = f"ws://127.0.0.1:{server.port}/m/other{path}"
        with connect(url, proxy=None, compression=None, open_timeout=PATIENCE) as socket:
            socket.send('{"type": "ping"}')
            assert json.loads(socket.recv(PATIENCE)) == {"type": "pong"}
            assert state_of(server, "other")["state"] == "loaded"
            unload(server, "other")
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012


def test_what_cannot_be_loaded_is_told_in_the_form_of_who_asks(
    two_models: TwoModels, other_path: Path
) -> None:
    with two_models() as server, server.client() as client:
        keeper_of(server).refusal = LOADING
        device = device_of(other_path)
        frame = device.open()
        framed = client.post(
            f"/m/other{FORWARD_PATH}", content=frame, headers={"Content-Type": CONTENT_TYPE}
        )
        weights = client.get("/m/other/weights/manifest.json")
        chat = {"messages": HELLO, "max_tokens": 4}
        openai = client.post("/m/other/v1/chat/completions", json=chat)
        ollama = client.post("/m/other/api/chat", json=chat | {"model": "other"})
        anthropic = client.post("/m/other/v1/messages", json=chat)
        picked = client.post("/v1/chat/completions", json=chat | {"model": "other"})
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://127.0.0.1:{server.port}/m/other{STREAM_PATH}", proxy=None).close()
    failed = device.receive(framed.content)
    assert isinstance(failed, StepFailed)
    assert (failed.failure.code, failed.failure.retry_after) == ("model_loading", 7.2)
    answers = (framed, weights, openai, ollama, picked, anthropic)
    # Anthropic's own status of a server that has no room.
    assert [answer.status_code for answer in answers] == [503] * 5 + [529]
    assert [answer.headers["retry-after"] for answer in answers] == ["8"] * 6
    assert weights.json()["error"]["code"] == "model_loading"
    assert weights.json()["error"]["retryable"]
    assert openai.json()["error"]["code"] == picked.json()["error"]["code"] == "model_loading"
    assert ollama.json()["error"].startswith("model 'other' is being loaded")
    assert anthropic.json()["type"] == "error"
    assert json.loads(refused.value.response.body or b"")["error"]["code"] == "model_loading"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/m/../v1/models", 404, "unknown_model"),
        ("/m/%2e%2e/v1/props", 404, "unknown_model"),
        ("/m//v1/props", 404, "unknown_model"),
        ("/m/", 404, "not_found"),
        ("//m/other/props", 404, "not_found"),
        ("/m/other//props", 404, "not_found"),
        ("/m/other/m/other/props", 404, "not_found"),
        ("/m/first/m/other/props", 404, "not_found"),
        ("/m/OTHER/props", 404, "unknown_model"),
        ("/m/other%00/props", 404, "unknown_model"),
        ("/m/other%2fprops", 200, None),
        (f"/m/{'x' * 300}/props", 404, "unknown_model"),
        ("/m/%F0%9F%98%80/props", 404, "unknown_model"),
        ("/m/first/app/x.js", 404, "not_found"),
        ("/m/first/", 404, "not_found"),
        ("/m", 404, "not_found"),
    ],
)
def test_hostile_paths_reach_a_model_or_nothing(
    server: RunningServer, path: str, status: int, code: str | None
) -> None:
    # Clients tidy paths up; these are sent as they are.
    answer = server.raw(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    )
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == str(status).encode()
    if code is not None:
        error = json.loads(body)["error"]
        assert error["code"] == code
        assert len(error["message"]) < 300


def test_guards_see_the_path_below_the_name(two_models: TwoModels) -> None:
    with two_models(token=TOKEN) as server, server.client() as client:
        answers = {
            path: client.get(path).status_code
            for path in (
                "/m/other/health",
                "/m/nobody/health",
                "/m/other/ready",
                "/m/other/api/version",
                "/m/other/",
                "/m/other/app/x.js",
                "/m/other/v1/models",
                "/m/nobody/v1/models",
                "/m/other/weights/manifest.json",
                "/api/v1/models",
            )
        }
        keyed = client.post("/m/other/v1/messages", json={}, headers={"X-Api-Key": TOKEN})
        stray = client.post("/m/other/v1/chat/completions", json={}, headers={"X-Api-Key": TOKEN})
        foreign = client.get("/m/other/v1/models", headers={"Origin": "https://evil.example"})
        anthropic = client.post("/m/other/v1/messages", json={})
        ollama = client.post("/m/other/api/chat", json={})
        nobody = client.get("/m/nobody/v1/models", headers=AUTHORIZED)
        page = client.get("/m/other/", headers=AUTHORIZED)
        listed = client.get("/api/v1/models", headers=AUTHORIZED).json()
    public = ("/m/other/health", "/m/nobody/health", "/m/other/ready", "/m/other/api/version")
    assert answers == {path: 200 if path in public else 401 for path in answers}
    assert (keyed.status_code, stray.status_code) == (400, 401)
    assert foreign.status_code == 403
    assert anthropic.json()["type"] == "error"
    assert isinstance(ollama.json()["error"], str)
    assert (nobody.status_code, page.status_code) == (404, 404)
    assert nobody.json()["error"]["code"] == "unknown_model"
    assert listed["operator"] is True


def test_models_are_loaded_by_operators_alone(two_models: TwoModels, tmp_path: Path) -> None:
    alice, bob = "alice-has-this-token-1", "bob-has-that-token-22"
    tokens = tmp_path / "tokens"
    tokens.write_text(f"alice {alice} operator\nbob {bob}\n")
    with two_models(token_file=tokens) as server, server.client() as client:

        def post(verb: str, token: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {token}"}
            return client.post(f"/api/v1/models/other/{verb}", headers=headers)

        refused, loaded = post("load", bob), post("load", alice)
        stays, gone = post("unload", bob), post("unload", alice)
        headers = {"Authorization": f"Bearer {alice}"}
        unknown = client.post("/api/v1/models/x/load", headers=headers)
        operators = [
            client.get("/api/v1/models", headers={"Authorization": f"Bearer {token}"}).json()[
                "operator"
            ]
            for token in (alice, bob)
        ]
    assert (refused.status_code, stays.status_code) == (403, 403)
    assert refused.json()["error"]["code"] == "operator_needed"
    assert loaded.json() == {"name": "other", "state": "loaded"}
    assert gone.json() == {"name": "other", "state": "unloaded"}
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_model")
    assert operators == [True, False]


def test_one_model_is_found_below_its_name_too(open_server: RunningServer) -> None:
    with open_server.client() as client:
        (model,) = client.get("/api/v1/models").json()["models"]
        below = client.get(f"{model['path']}/weights/manifest.json")
        root = client.get("/weights/manifest.json")
        unknown = client.get("/m/nothing/weights/manifest.json")
        stays = client.post(f"/api/v1/models/{model['name']}/unload")
    assert below.content == root.content
    assert unknown.json()["error"]["code"] == "unknown_model"
    assert (stays.status_code, stays.json()["error"]["code"]) == (503, "model_busy")
