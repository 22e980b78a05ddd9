"""Original clients whose expert the server evaluates under encryption, with its own key.

The oracle is Hugging Face with the same matrices in the clear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.adapted import banking_greedy, write_adapter
from tests.server_process import RunningServer, running_server
from tests.split_server.http.original.upstream_client import (
    BinarySocket,
    Http,
    TextSocket,
    generate,
)

pytest.importorskip("tenseal")
QUESTION = "What is an overdraft?"
COUNT = 30
CLIENTS: dict[str, Callable[[str], Any]] = {
    "text": TextSocket,
    "binary": BinarySocket,
    "http": Http,
}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(dtype="float32") as running:
        yield running


def prompt() -> list[int]:
    from transformers import AutoTokenizer

    chat = [{"role": "user", "content": QUESTION}]
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    return list(tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False))


def embed(ids: list[int]) -> Any:
    return oracle.embeddings(EMBEDDED, ids).numpy()


def pick(hidden: Any) -> int:
    return int(oracle.head(EMBEDDED, torch.from_numpy(hidden.copy())).argmax())


@pytest.mark.parametrize("name", CLIENTS)
def test_tokens_are_those_of_the_adapter_in_the_clear_and_every_time_is_of_work(
    server: RunningServer, name: str
) -> None:
    replies: list[dict[str, Any]] = []
    with CLIENTS[name](server.url) as client:

        def forward(rows: Any, **fields: Any) -> dict[str, Any]:
            reply = client.forward(rows, **fields | {"expert_name": "banking_expert"})
            replies.append(reply)
            return reply

        stop = set(server.parts.steps.info.eos_token_ids)
        tokens = generate(forward, embed, pick, prompt(), COUNT, stop, f"encrypted {name}")
    assert tokens == banking_greedy(prompt(), COUNT)
    for reply in replies:
        assert (reply["he_active"], reply["he_reason"], reply["adapter"]) == (True, None, "banking")
        times = [reply[f"{kind}_ms"] for kind in ("encrypt", "he_compute", "decrypt")]
        assert min(times) > 0
        assert sum(times) <= reply["total_ms"]
        assert reply["he_compute_ms"] < reply["compute_ms"] <= reply["total_ms"]
        assert reply["dp_sigma"] == 0
    # The prompt's rows are all returned, so all of them were encrypted. Other work of the machine
    # only ever makes a single row slower, so the fastest says what one takes.
    assert replies[0]["encrypt_ms"] > 3 * min(reply["encrypt_ms"] for reply in replies[1:])


def test_a_request_that_is_not_encrypted_says_why(server: RunningServer) -> None:
    asked = {
        "use_he is false": {"expert_name": "banking", "use_he": False},
        "names no adapter": {"use_he": True},
        "no adapter of that name": {"expert_name": "gardening", "use_he": True},
    }
    with TextSocket(server.url) as client:
        for reason, fields in asked.items():
            reply = client.forward(embed([5, 6]), **fields)
            assert reply["he_active"] is False
            assert reason in reply["he_reason"]
            assert (reply["encrypt_ms"], reply["he_compute_ms"], reply["decrypt_ms"]) == (0, 0, 0)
        assert client.ask({"type": "config"})["he_active"] is True


@pytest.mark.parametrize("use_he", [True, False])
def test_a_session_whose_rows_could_not_be_answered_is_not_continued(
    tiny_path: Path, tmp_path: Path, use_he: bool
) -> None:
    a, b = torch.ones(1, 64), torch.full((64, 1), 3e38)
    write_adapter(tmp_path / "huge", 64, rows=1, tensors={"A": a, "B": b}, scale=1e4)
    rows = oracle.embeddings(tiny_path, [5, 6]).numpy()
    with (
        running_server(tiny_path, adapters=tmp_path, compat=False) as server,
        TextSocket(server.url) as client,
    ):
        asked = {"expert_name": "huge", "use_he": use_he, "session_id": "a"}
        assert client.forward(rows, **asked)["code"] == "hidden_overflow"
        again = client.forward(rows[:1], session_id="a", incremental=True)
        assert again["code"] == "unknown_session"
        assert client.forward(rows, session_id="a")["seq_len"] == 2


def test_a_server_without_encryption_or_with_noise_reports_it() -> None:
    with running_server(dtype="float32", he=False, adapter_noise_epsilon=1.0) as server:
        with server.client() as http:
            config = http.get("/api/v1/split/config").json()
        assert config["he_active"] is False
        assert config["dp_sigma"] == pytest.approx(3.7306, abs=1e-3)
        assert config["dp_epsilon"] == pytest.approx(1.0, abs=1e-3)
        with TextSocket(server.url) as client:
            noised = client.forward(embed([5, 6]), expert_name="banking", session_id="a")
            again = client.forward(embed([5, 6]), expert_name="banking", session_id="b")
            plain = client.forward(embed([5, 6]), session_id="c")
        assert noised["dp_sigma"] == config["dp_sigma"]
        assert "--no-he" in noised["he_reason"]
        assert plain["dp_sigma"] == 0
        assert (noised["rows"] != again["rows"]).any()
