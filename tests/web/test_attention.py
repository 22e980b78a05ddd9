"""What each token of a reply attends to, in Chromium against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser
from transformers import AutoModelForCausalLM, AutoTokenizer

from split_client.api import AttentionRequest, SplitClient
from split_client.attended import Transcript
from split_client.conversation import Message
from split_client.generation.sampling_params import SamplingParams
from split_client.token_pieces import pieces_of
from split_server.checkpoint.folder import EMBEDDED
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.web.engine_page import EnginePage, engine_folder, opened, serve_engine_page

COUNT = 40
MESSAGES = [
    {"role": "system", "content": "Be brief, please ☺️."},
    {"role": "user", "content": "What is split inference? 👩‍🚀 naïve"},
]
_ROWS = AttentionRequest(heads="mean")


@pytest.fixture(scope="module")
def server(web_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = engine_folder(web_root, tmp_path_factory.mktemp("engine") / "page")
    with running_server() as running:
        serve_engine_page(running, folder)
        yield running


@pytest.fixture(scope="module")
def client(
    server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path_factory.mktemp("cache")) as client:
        yield client


@pytest.fixture(scope="module")
def wanted(client: SplitClient) -> tuple[list[int], list[Any]]:
    """Ids of the Python client's reply, and its rows as the page keeps them."""
    events = client.chat(MESSAGES, SamplingParams(), max_tokens=COUNT, attention=_ROWS).events()
    told = [(event.token, event.attention) for event in events if hasattr(event, "attention")]
    means = [
        attention.values.mean(axis=(0, 1), dtype=np.float64).astype(np.float32)
        for _, attention in told
        if attention is not None
    ]
    return [token for token, _ in told], means


def eager_means(ids: list[int]) -> Any:
    """What every position attends to: the mean over layers and heads, [len(ids), len(ids)]."""
    model = AutoModelForCausalLM.from_pretrained(
        EMBEDDED, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        layers = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.stack(layers).double().mean((0, 1, 2)).numpy()


def prompt_ids() -> list[int]:
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    return list(
        tokenizer.apply_chat_template(MESSAGES, add_generation_prompt=True, return_dict=False)
    )


def attended(page: EnginePage, known: int = 0) -> Any:
    return page.page.evaluate("(from) => engine.attended('chat', from)", known)


def row(page: EnginePage, token: int | None) -> Any:
    """A row as the page has it."""
    values = page.page.evaluate(
        "async (token) => Array.from(await engine.attention('chat', token) ?? [])", token
    )
    return np.asarray(values, np.float32)


def same_rows(page: EnginePage, rows: list[Any]) -> None:
    told = attended(page)
    assert (told["first"], told["end"]) == (0, len(rows))
    for token, expected in enumerate(rows):
        np.testing.assert_array_equal(row(page, token), expected)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_rows_are_those_of_the_python_client(
    chromium: Browser,
    server: RunningServer,
    wanted: tuple[list[int], list[Any]],
    transport: str,
) -> None:
    ids, rows = wanted
    with opened(chromium, server) as page:
        page.ready(server.url, transport=transport)
        answer = page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        assert answer["ids"] == ids
        same_rows(page, rows)
        assert row(page, COUNT).size == 0
        width = len(rows[-1])
        padded = np.stack(
            [np.pad(each.astype(np.float64), (0, width - len(each))) for each in rows]
        )
        np.testing.assert_array_equal(row(page, None), padded.mean(0).astype(np.float32))


def test_rows_are_those_of_eager_attention(
    chromium: Browser, server: RunningServer, wanted: tuple[list[int], list[Any]]
) -> None:
    prompt = prompt_ids()
    eager = eager_means(prompt + wanted[0])
    with opened(chromium, server) as page:
        page.ready(server.url)
        page.reply(MESSAGES, maxTokens=COUNT, attention=True)
        for token in range(len(wanted[0])):
            place = len(prompt) + token
            np.testing.assert_allclose(
                row(page, token), eager[place - 1, :place], rtol=0, atol=1e-5
            )
