"""A second model whose folder is damaged while the server runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from split_wire.client import StepFailed
from split_wire.messages import CONTENT_TYPE
from tests.server_process import FORWARD_PATH, running_server
from tests.split_server.serving.models.test_door import HELLO, device_of


def _cut_weights(place: Path) -> None:
    weights = place / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def _cut_config(place: Path) -> None:
    (place / "config.json").write_text("{")


def _wrong_type(place: Path) -> None:
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"num_hidden_layers": "many"}))


def _wrong_layers(place: Path) -> None:
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"rms_norm_eps": [1]}))


@pytest.mark.parametrize("damage", [_cut_weights, _cut_config, _wrong_type, _wrong_layers])
def test_a_damaged_model_is_refused_in_the_form_of_who_asks_until_it_is_mended(
    damage: Callable[[Path], None], tiny_path: Path, other_path: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    shutil.copytree(other_path, place)
    models = (f"first={tiny_path}", f"other={place}")
    chat = {"messages": HELLO, "max_tokens": 4}
    with running_server(models, dtype="float32") as server, server.client() as client:
        damage(place)
        device = device_of(other_path)
        openai = client.post("/m/other/v1/chat/completions", json=chat)
        framed = client.post(
            f"/m/other{FORWARD_PATH}", content=device.open(), headers={"Content-Type": CONTENT_TYPE}
        )
        ollama = client.post("/m/other/api/chat", json=chat | {"model": "other"})
        anthropic = client.post("/m/other/v1/messages", json=chat)
        responses = client.post("/m/other/v1/responses", json={"input": "hi"})
        weights = client.get("/m/other/weights/manifest.json")
        picked = client.post("/v1/chat/completions", json=chat | {"model": "other"})
        shutil.copytree(other_path, place, dirs_exist_ok=True)
        mended = client.post("/m/other/v1/chat/completions", json=chat)
    failed = device.receive(framed.content)
    assert isinstance(failed, StepFailed)
    assert failed.failure.code == "model_unusable"
    answers = (openai, framed, ollama, anthropic, responses, weights, picked)
    assert [answer.status_code for answer in answers] == [500] * len(answers)
    assert not any("retry-after" in answer.headers for answer in answers)
    assert not any(str(place) in answer.text for answer in answers)
    for answer in (openai, picked, weights, responses):
        assert answer.json()["error"]["code"] == "model_unusable"
    for answer in (ollama, anthropic):
        assert "server's log has the reason" in answer.text
    assert mended.status_code == 200
