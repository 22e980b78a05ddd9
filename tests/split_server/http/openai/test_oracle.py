"""Answers of OpenAI's API are those that Hugging Face computes on the same checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import running_server
from tests.split_server.http.openai.calls import CHAT, HELLO, chat, completion, stream

COUNT = 24
PROMPT = "What is split inference? The device"


def told(path: Path, ids: list[int]) -> str:
    """The text of a reply without its end."""
    text: str = AutoTokenizer.from_pretrained(path).decode(ids, skip_special_tokens=True)
    return text


def chat_ids(path: Path) -> list[int]:
    tokenizer = AutoTokenizer.from_pretrained(path)
    text = tokenizer.apply_chat_template(HELLO, add_generation_prompt=True, tokenize=False)
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids


def test_greedy_chats_of_the_embedded_model_equal_generate() -> None:
    expected = oracle.greedy(EMBEDDED, chat_ids(EMBEDDED), COUNT)
    with running_server(dtype="float32") as server:
        asked: dict[str, Any] = {"temperature": 0, "max_tokens": COUNT}
        answer = chat(server, **asked)
        chunks = stream(server, CHAT, messages=HELLO, **asked)
    assert answer["choices"][0]["message"]["content"] == told(EMBEDDED, expected)
    assert answer["usage"]["completion_tokens"] == len(expected)
    streamed = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks)
    assert streamed == told(EMBEDDED, expected)


def test_greedy_replies_of_every_family_equal_generate_up_to_a_stop(family_path: Path) -> None:
    ids = AutoTokenizer.from_pretrained(family_path).encode(PROMPT)
    text = told(family_path, oracle.greedy(family_path, ids, COUNT))
    chatted = told(family_path, oracle.greedy(family_path, chat_ids(family_path), COUNT))
    stop = text[len(text) // 2 :][:3]
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": COUNT}
    with running_server(family_path, dtype="float32") as server:
        whole = completion(server, prompt=PROMPT, **asked)["choices"][0]
        cut = completion(server, prompt=PROMPT, stop=["never", stop], **asked)["choices"][0]
        answer = chat(server, **asked)["choices"][0]
    assert whole["text"] == text
    assert (cut["text"], cut["finish_reason"]) == (text[: text.index(stop)], "stop")
    assert answer["message"]["content"] == chatted


@pytest.mark.parametrize("family", ["qwen2", "gemma2"])
def test_logprobs_are_those_of_a_float64_softmax(
    family: str, tiny_family: Callable[[str], Path]
) -> None:
    path = tiny_family(family)
    tokenizer = AutoTokenizer.from_pretrained(path)
    prompt = tokenizer.encode(PROMPT)
    with running_server(path, dtype="float32") as server:
        asked: dict[str, Any] = {"temperature": 0, "max_tokens": 12}
        answer = completion(server, prompt=prompt, logprobs=5, **asked)
        chatted = chat(server, logprobs=True, top_logprobs=20, **asked)
    reply = oracle.greedy(path, prompt, 12)
    found = answer["choices"][0]["logprobs"]
    for index, row in enumerate(rows(path, prompt, reply)[: len(found["tokens"])]):
        assert found["token_logprobs"][index] == pytest.approx(row[reply[index]], abs=1e-4)
        expected = np.sort(row)[::-1][:5]
        values = sorted(found["top_logprobs"][index].values(), reverse=True)
        # Tokens of the same text are told as one.
        assert set(np.round(values, 3)) <= set(np.round(expected, 3))
    prompt = chat_ids(path)
    reply = oracle.greedy(path, prompt, 12)
    content = chatted["choices"][0]["logprobs"]["content"]
    assert len(content) >= 3
    for index, row in enumerate(rows(path, prompt, reply)[: len(content)]):
        assert content[index]["logprob"] == pytest.approx(row[reply[index]], abs=1e-4)
        top = [entry["logprob"] for entry in content[index]["top_logprobs"]]
        np.testing.assert_allclose(top, np.sort(row)[::-1][:20], atol=1e-4)


def rows(path: Path, prompt: list[int], reply: list[int]) -> np.ndarray:
    """Logprobs [tokens, vocabulary] that the tokens of ``reply`` were chosen from."""
    logits = oracle.logits(path, prompt + reply)[len(prompt) - 1 : -1]
    return torch.log_softmax(logits.double(), dim=-1).numpy()


def test_listed_tokens_rebuild_the_text_and_say_where_they_stand(tiny_path: Path) -> None:
    with running_server(tiny_path) as server:
        answer = completion(
            server, prompt=PROMPT, temperature=1, seed=4, max_tokens=200, logprobs=0
        )
    (choice,) = answer["choices"]
    scores, text = choice["logprobs"], choice["text"]
    whole = 0
    for token, offset in zip(scores["tokens"], scores["text_offset"], strict=True):
        if "\ufffd" not in token and not token.startswith("<|"):
            assert text[offset : offset + len(token)] == token
            whole += 1
    assert whole > 20
    assert scores["text_offset"] == sorted(scores["text_offset"])
