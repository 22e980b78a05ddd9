"""Tokens chosen in a browser are those of the terminal client and of Hugging Face `generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from transformers import AutoTokenizer

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer, running_server
from tests.web.engine.page import EnginePage, opened, serve_engine_page

TURNS = ("What is split inference?", "And what does the relay do?", "Grüße aus 東京! 👍🏽")
# The embedded model is of the kind qwen2.
FAMILIES = [*(["qwen2", "llama", "gemma"] if EXHAUSTIVE else []), "gemma2", "phi"]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def greedy(path: Path, messages: list[dict[str, str]], count: int = 40) -> list[int]:
    """The ids of Hugging Face's own reply to a chat."""
    tokenizer = AutoTokenizer.from_pretrained(path)
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    return oracle.greedy(path, list(prompt), count)


def test_every_turn_of_a_chat_equals_generate_and_sends_only_new_tokens(
    engine: EnginePage,
) -> None:
    messages: list[dict[str, str]] = []
    cached = 0
    for turn, text in enumerate(TURNS):
        messages.append(user(text))
        reply = engine.reply(messages, chat="turns")
        assert reply["ids"] == greedy(EMBEDDED, messages), text
        assert turn == 0 or reply["promptSent"] <= reply["promptTokens"] - cached + 1
        cached = reply["promptTokens"] + reply["tokens"] - 1
        messages.append(said(reply["text"]))


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_either_transport_gives_the_tokens_of_generate(
    chromium: Browser, server: RunningServer, transport: str
) -> None:
    with opened(chromium, server) as page:
        page.ready(server.url, transport=transport)
        assert page.reply([user(TURNS[0])])["ids"] == greedy(EMBEDDED, [user(TURNS[0])])
        assert page.page.evaluate("engine.stats()")["transport"] == transport


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_checkpoints_of_each_family_equal_generate(
    chromium: Browser, folder: Path, tmp_path: Path, family: str
) -> None:
    path = tiny_checkpoint(family, tmp_path / family, tied=family != "llama")
    with running_server(path) as running:
        serve_engine_page(running, folder)
        with opened(chromium, running) as page:
            page.ready(running.url)
            messages = [user(TURNS[0])]
            reply = page.reply(messages, maxTokens=60)
            assert reply["ids"] == greedy(path, messages, 60)


@pytest.mark.slow
def test_a_head_that_workers_share_gives_the_tokens_of_generate(
    chromium: Browser, folder: Path, tmp_path: Path
) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "wide", dtype="bfloat16", vocab_size=66_000)
    with running_server(path, dtype="float32") as running:
        serve_engine_page(running, folder)
        with opened(chromium, running) as page:
            assert page.ready(running.url)["workers"] >= 2
            messages = [user(TURNS[0])]
            reply = page.reply(messages, maxTokens=60)
            assert reply["ids"] == greedy(path, messages, 60)


_SAMPLED: list[dict[str, Any]] = [
    {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "seed": 7},
    {"temperature": 1.0, "min_p": 0.05, "repetition_penalty": 1.2, "seed": 2**64 - 1},
    {"temperature": 1.3, "presence_penalty": 0.7, "frequency_penalty": 0.4, "seed": 12345},
    {"temperature": 0.9, "top_k": 20, "logit_bias": {"100": 5.0, "101": -100.0}, "seed": 3},
]


@pytest.mark.parametrize("fields", _SAMPLED)
def test_sampling_with_a_seed_equals_the_terminal_client(
    engine: EnginePage, server: RunningServer, tmp_path: Path, fields: dict[str, Any]
) -> None:
    bias = {int(token): value for token, value in fields.get("logit_bias", {}).items()}
    params = SamplingParams(**fields | {"logit_bias": bias})
    with SplitClient(server.url, cache=tmp_path) as client:
        reply = client.chat([user(TURNS[1])], params, max_tokens=60)
        reply.read()
    asked = fields | {"seed": str(fields["seed"])}
    answer = engine.reply([user(TURNS[1])], params=asked, maxTokens=60, chat="sampled")
    assert answer["ids"] == reply.token_ids
    assert answer["text"] == reply.text
    assert answer["seed"] == str(fields["seed"])


def test_an_adapter_in_the_clear_gives_the_terminal_clients_reply(
    engine: EnginePage, server: RunningServer, tmp_path: Path
) -> None:
    question = [user("What is a savings account?")]
    with SplitClient(server.url, cache=tmp_path, adapter="auto") as client:
        reply = client.chat(question, SamplingParams(), max_tokens=40)
        text = reply.read()
    answer = engine.reply(question, adapter="auto", chat="adapter")
    assert (answer["text"], answer["adapter"]) == (text, reply.adapter)
    assert reply.adapter is not None


def test_a_stopped_reply_says_so_and_the_next_one_is_whole(engine: EnginePage) -> None:
    engine.begin("long", [user(TURNS[0])], chat="stopped", maxTokens=400, params={"temperature": 1})
    engine.page.wait_for_function("() => tokensOf('long').length > 2")
    engine.page.evaluate("stopReply('long')")
    assert engine.finished("long")["reason"] in ("cancelled", "eos")
    assert engine.reply([user(TURNS[0])], chat="stopped")["ids"] == greedy(
        EMBEDDED, [user(TURNS[0])]
    )


def test_a_second_reply_at_a_time_is_refused_by_name(engine: EnginePage) -> None:
    engine.begin("first", [user(TURNS[0])], chat="first")
    assert engine.reply([user("Hello")], chat="second")["error"] == "reply_in_progress"
    assert engine.finished("first")["ids"] == greedy(EMBEDDED, [user(TURNS[0])])
