"""Existing clients of the original protocol, over real sockets and the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from split_server.checkpoint.folder import EMBEDDED
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.patience import until
from tests.server_process import running_server
from tests.split_server.http.original.setups import PROMPT, TTL, Setup
from tests.split_server.http.original.upstream_client import (
    BinarySocket,
    Http,
    TextSocket,
    generate,
)

TRANSPORTS: dict[str, Callable[[str], Any]] = {
    "text": lambda base: TextSocket(base),
    "text, older spelling": lambda base: TextSocket(base, "hidden_states_b64"),
    "binary": lambda base: BinarySocket(base),
    "http": lambda base: Http(base),
    "binary http": lambda base: Http(base, binary=True),
}


@pytest.mark.parametrize("make", [TextSocket, BinarySocket, Http])
def test_a_client_that_has_nothing_but_the_address_chats_with_the_embedded_model(
    make: Callable[[str], Any],
) -> None:
    with running_server(allow_server_tokenize=True, dtype="float32") as server:
        with server.client() as http:
            config = http.get("/api/v1/split/config").json()
            table = http.get("/weights/embed_tokens.bin").content
            prompt = http.post("/api/v1/split/tokenize", json={"text": PROMPT}).json()["token_ids"]
            probe = http.post("/api/v1/split/verify", json={"probe_text": "hello"}).json()
            pieces = http.get("/weights/tokenizer.json").json()["model"]
            assert http.get("/api/v1/split/selftest").json()["error"]["code"] == "not_found"
        rows = np.frombuffer(table, "<f2").astype(np.float32)
        rows = rows.reshape(config["vocab_size"], config["hidden_dim"])
        assert all(isinstance(merge, str) for merge in pieces["merges"])
        first = rows[probe["token_ids"][0], :8].tolist()
        assert probe["embed_hash"] == sum(round(10_000 * value) for value in first)
        stop = set(config["eos_token_ids"])
        with make(server.url) as client:
            tokens = generate(
                client.forward,
                lambda ids: rows[ids],
                lambda hidden: int((rows @ hidden).argmax()),
                prompt,
                24,
                stop,
            )
    assert tokens == oracle.greedy(EMBEDDED, prompt, 24)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_greedy_tokens_equal_generate_over_every_transport(
    open_setup: Setup, transport: str
) -> None:
    with TRANSPORTS[transport](open_setup.base) as client:
        tokens = open_setup.generate(client.forward, session=f"greedy {transport}")
    assert tokens == oracle.greedy(open_setup.path, open_setup.ids(), 12)


def test_greedy_tokens_equal_generate_for_every_family(family_path: Path) -> None:
    with Setup(family_path).serving() as setup, BinarySocket(setup.base) as client:
        tokens = setup.generate(client.forward)
    assert tokens == oracle.greedy(family_path, setup.ids(), 12)


def test_a_prompt_longer_than_one_engine_step_comes_back_whole(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "long", max_position_embeddings=2048)
    with Setup(path).serving() as setup, BinarySocket(setup.base) as client:
        prompt = (setup.ids() * 100)[:700]
        reply = client.forward(setup.embed(prompt), session_id="long")
        assert reply["rows"].shape == (700, setup.hidden)
        tokens = setup.generate(client.forward, 4, prompt=prompt)
    assert tokens == oracle.greedy(path, prompt, 4)


def test_a_generation_that_falls_back_from_socket_to_http_goes_on(open_setup: Setup) -> None:
    with TextSocket(open_setup.base) as socket, Http(open_setup.base) as http:
        steps = iter([socket.forward] * 4 + [http.forward] * 20)
        tokens = open_setup.generate(
            lambda rows, **fields: next(steps)(rows, **fields), session="fallback"
        )
    assert tokens == oracle.greedy(open_setup.path, open_setup.ids(), 12)


def test_incremental_appends_and_not_incremental_starts_anew(open_setup: Setup) -> None:
    rows = open_setup.embed(open_setup.ids())
    count = len(rows)
    with TextSocket(open_setup.base) as client:
        whole = client.forward(rows, session_id="semantics", incremental=False)
        more = client.forward(rows[:3], session_id="semantics", incremental=True)
        again = client.forward(rows, session_id="semantics", incremental=False)
    assert whole["type"] == "forward"
    assert (whole["incremental"], whole["cached_seq_len"]) == (False, 0)
    assert whole["rows"].shape[0] == whole["seq_len"] == count
    assert (more["incremental"], more["cached_seq_len"]) == (True, count)
    assert more["rows"].shape[0] == more["seq_len"] == 1
    assert (again["incremental"], again["cached_seq_len"]) == (False, 0)
    np.testing.assert_array_equal(again["rows"], whole["rows"])


def test_a_reply_counts_times_and_claims_neither_encryption_nor_noise(open_setup: Setup) -> None:
    rows = open_setup.embed([5, 6])
    with BinarySocket(open_setup.base) as client:
        plain = client.forward(rows, session_id="a", use_he=False)
        asked = client.forward(rows, session_id="a", use_he=True, expert_name="no such expert")
    np.testing.assert_array_equal(asked["rows"], plain["rows"])
    for reply in (plain, asked):
        assert reply["type"] == "result"
        assert reply["he_active"] is False
        assert (reply["encrypt_ms"], reply["decrypt_ms"], reply["dp_sigma"]) == (0, 0, 0)
        assert 0 < reply["compute_ms"] <= reply["total_ms"]
        assert reply["layers_computed"] == open_setup.service.info.num_layers


def test_an_unknown_name_starts_anew_even_when_asked_to_append(setup: Setup) -> None:
    rows = setup.embed(setup.ids())
    with TextSocket(setup.base) as client:
        reply = client.forward(rows, session_id="never seen", incremental=True)
    assert (reply["incremental"], reply["cached_seq_len"]) == (False, 0)
    assert len(reply["rows"]) == len(rows)


@pytest.mark.parametrize("transport", ["text", "binary", "http"])
def test_a_lost_session_is_refused_until_it_starts_anew(setup: Setup, transport: str) -> None:
    rows = setup.embed(setup.ids())
    with TRANSPORTS[transport](setup.base) as client:
        client.forward(rows, session_id="kept", incremental=False)
        setup.now += TTL + 1
        reply = client.forward(rows[:1], session_id="kept", incremental=True)
        assert reply.get("error", reply)["code"] == "unknown_session"
        client.forward(rows, session_id="kept", incremental=False)
        reply = client.forward(rows[:1], session_id="kept", incremental=True)
    assert reply["cached_seq_len"] == len(rows)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_session_that_expired_goes_on_bit_for_bit_over_every_transport(
    tiny_path: Path, transport: str
) -> None:
    reuse = Reuse(RunPool(PoolLimits()), Namespaces("of the test"))
    with (
        # Passes of so few rows leave the slices of a prefill no choice.
        Setup(tiny_path, reuse=reuse, pass_rows=4).serving() as setup,
        TRANSPORTS[transport](setup.base) as client,
    ):
        rows = setup.embed([11 + i % 60 for i in range(45)])
        steps = [rows, *(rows[at : at + 1] for at in range(4))]

        def turn(name: str, number: int) -> dict[str, Any]:
            reply: dict[str, Any] = client.forward(
                steps[number], session_id=name, incremental=number > 0
            )
            return reply

        stayed = [turn("stays", number) for number in range(len(steps))]
        for number, reply in enumerate(stayed):
            went_on = turn("expires", number)
            assert went_on["cached_seq_len"] == reply["cached_seq_len"]
            np.testing.assert_array_equal(went_on["rows"], reply["rows"])
            setup.now += TTL + 1
    assert reuse.taken["asked"] == sum(len(rows) + step for step in range(4))


def test_a_socket_without_a_session_id_leaves_nothing_in_the_pool(tiny_path: Path) -> None:
    reuse = Reuse(RunPool(PoolLimits()), Namespaces("of the test"))
    with Setup(tiny_path, reuse=reuse).serving() as setup:
        rows = setup.embed([11 + i % 60 for i in range(45)])
        with BinarySocket(setup.base) as client:
            client.forward(rows, incremental=False)
            setup.now += TTL + 1
            assert client.forward(rows[:1], incremental=True)["cached_seq_len"] == len(rows)
            assert len(reuse.pool)
        with Http(setup.base) as http:
            http.forward(rows)
            until(lambda: not len(reuse.pool))


def test_sockets_without_a_session_id_share_nothing_and_leave_nothing(setup: Setup) -> None:
    rows = setup.embed(setup.ids())
    with TextSocket(setup.base) as first, TextSocket(setup.base) as second:
        first.forward(rows)
        assert first.forward(rows[:1], incremental=True)["cached_seq_len"] == len(rows)
        assert second.forward(rows[:1], incremental=True)["cached_seq_len"] == 0
        assert len(setup.service.store) == 2
    with Http(setup.base) as http:
        http.forward(rows)
        assert http.forward(rows[:1], incremental=True)["cached_seq_len"] == 0
    assert len(setup.service.store) == 0


def test_session_names_live_inside_their_principal(tiny_path: Path, tmp_path: Path) -> None:
    tokens = {"alice": "a-token-of-alice-0001", "bob": "a-token-of-bob-000001"}
    file = tmp_path / "tokens"
    file.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
    bearer = {name: f"Bearer {token}" for name, token in tokens.items()}
    with (
        Setup(tiny_path).serving(token_file=file) as setup,
        TextSocket(setup.base, Authorization=bearer["alice"]) as alice,
        Http(setup.base, Authorization=bearer["bob"]) as bob,
    ):
        rows = setup.embed(setup.ids())
        alice.forward(rows, session_id="chat")
        assert bob.forward(rows[:1], session_id="chat", incremental=True)["cached_seq_len"] == 0
        reply = alice.forward(rows[:1], session_id="chat", incremental=True)
        assert reply["cached_seq_len"] == len(rows)
        for path in ("config", "tokenize", "verify", "forward"):
            response = httpx.post(f"{setup.base}/api/v1/split/{path}", json={})
            assert response.status_code == 401
