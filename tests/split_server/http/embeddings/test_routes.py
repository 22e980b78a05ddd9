"""Embeddings over a real server are those of Hugging Face's last hidden states."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx
import numpy as np
import pytest
import torch

from tests import oracle, patience
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import refused

EMBEDDINGS, EMBED, OLDER = "/v1/embeddings", "/api/embed", "/api/embeddings"
# Passes of other shapes sum in another order.
CLOSE = 1e-6
TEXTS = ["Hello", "What is split inference?", "a " * 300]


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, dtype="float32", ollama_listen="127.0.0.1:0") as running:
        yield running


def post(server: RunningServer, path: str = EMBEDDINGS, **values: Any) -> httpx.Response:
    with server.client() as client:
        return client.post(path, json=values)


def vectors(answer: httpx.Response) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert [one["index"] for one in data] == list(range(len(data)))
    return np.array([one["embedding"] for one in data])


def truth(path: Path, ids: list[int], pooling: str) -> np.ndarray:
    """From the model's own last hidden states."""
    with torch.inference_mode():
        states = oracle.model(path).model(torch.tensor([ids])).last_hidden_state[0].double()
    vector = states.mean(0) if pooling == "mean" else states[-1]
    found: np.ndarray = (vector / vector.norm()).numpy()
    return found


@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_vectors_are_those_of_the_last_hidden_states(
    server: RunningServer, tiny_path: Path, pooling: str
) -> None:
    ids = [oracle.tokenizer(tiny_path)(text)["input_ids"] for text in TEXTS]
    wanted = np.stack([truth(tiny_path, each, pooling) for each in ids])
    answer = post(server, input=TEXTS, pooling=pooling)
    np.testing.assert_allclose(vectors(answer), wanted, atol=1e-5)
    np.testing.assert_allclose(vectors(post(server, input=ids, pooling=pooling)), wanted, atol=1e-5)
    body = answer.json()
    assert body["usage"]["prompt_tokens"] == sum(map(len, ids))
    assert (body["pooling"], body["normalized"], body["object"]) == (pooling, True, "list")


def test_a_vector_does_not_depend_on_what_comes_with_it(server: RunningServer) -> None:
    together = vectors(post(server, input=TEXTS))
    alone = [vectors(post(server, input=text))[0] for text in TEXTS]
    np.testing.assert_allclose(together, np.stack(alone), atol=CLOSE)


def test_base64_holds_the_same_numbers(server: RunningServer) -> None:
    (one,) = post(server, input="Hello", encoding_format="base64").json()["data"]
    found = np.frombuffer(base64.b64decode(one["embedding"]), "<f4")
    np.testing.assert_allclose(found, vectors(post(server, input="Hello"))[0], atol=CLOSE)


def test_ollamas_paths_give_the_same_vectors(server: RunningServer) -> None:
    wanted = vectors(post(server, input=TEXTS))
    answer = post(server, EMBED, model="tiny:latest", input=TEXTS).json()
    np.testing.assert_allclose(np.array(answer["embeddings"]), wanted, atol=CLOSE)
    assert (answer["model"], answer["pooling"]) == ("tiny:latest", "mean")
    assert answer["prompt_eval_count"] > 0
    older = post(server, OLDER, model="tiny", prompt=TEXTS[0]).json()
    np.testing.assert_allclose(np.array(older["embedding"]), wanted[0], atol=CLOSE)
    assert post(server, EMBED, model="tiny").json()["embeddings"] == []
    assert post(server, OLDER, model="tiny").json() == {"embedding": []}
    url = f"http://127.0.0.1:{server.ollama_port}"
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
        asked = {"model": "tiny", "input": "Hello"}
        (found,) = client.post(EMBED, json=asked).json()["embeddings"]
        np.testing.assert_allclose(np.array(found), wanted[0], atol=CLOSE)


def test_a_text_that_is_too_long_is_refused_or_cut(server: RunningServer) -> None:
    most = server.parts.steps.info.max_context
    long = "a b c d " * most
    error = refused(post(server, input=["Hello", long]), 413)
    assert (error["code"], error["suggested_tokens"]) == ("prompt_too_large", most)
    assert post(server, EMBED, model="tiny", input=long, truncate=False).status_code == 413
    cut = post(server, EMBED, model="tiny", input=long).json()
    assert cut["prompt_eval_count"] == most


@pytest.mark.parametrize("text", ["", [""]])
def test_nothing_is_no_text(server: RunningServer, text: Any) -> None:
    error = refused(post(server, input=text), 400)
    assert (error["code"], error["param"]) == ("prompt_empty", "input")


def test_the_field_of_a_text_that_is_empty_is_named_as_the_path_calls_it(
    server: RunningServer,
) -> None:
    answer = post(server, EMBED, model="tiny", input=["Hello", ""])
    assert (answer.status_code, answer.json()["param"]) == (400, "input")


def test_errors_of_ollamas_paths_are_texts(server: RunningServer) -> None:
    for path, values in ((EMBED, {"input": 5}), (OLDER, {"prompt": 5})):
        answer = post(server, path, model="tiny", **values)
        assert answer.status_code == 400
        assert isinstance(answer.json()["error"], str)


def test_nothing_of_the_texts_is_kept(server: RunningServer) -> None:
    reuse = server.parts.steps.reuse
    assert reuse is not None
    before = reuse.pool.count_of("local")
    post(server, input=TEXTS)
    assert reuse.pool.count_of("local") == before


def test_a_reader_that_leaves_ends_the_work(server: RunningServer) -> None:
    compat = server.parts.compat
    assert compat is not None
    body = json.dumps({"input": ["a " * 400] * 1000}).encode()
    head = f"POST {EMBEDDINGS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode() + body)
        patience.until(lambda: compat.generator.places.running)
    patience.until(lambda: not compat.generator.places.running)
    patience.until(lambda: not server.parts.steps.store.__len__())
