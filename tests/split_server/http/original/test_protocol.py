"""Existing clients of the original protocol, over real sockets and the real engine."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from split_server.adapters.adapter_file import AdapterFile
from split_server.checkpoint.catalog import LEGACY_EMBEDDING, build_catalog
from split_server.checkpoint.folder import EMBEDDED, read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.checkpoint.texts import TOKENIZER
from split_server.http.original.protocol import OriginalProtocol
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.original.ends import encoder, half_rows
from split_server.original.experts.apply import Experts
from split_server.serving.app import Parts
from split_server.sessions.reuse import Reuse
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.engines import tiny_backbone, tiny_service
from tests.patience import until
from tests.server_process import running_server
from tests.split_server.http.original.upstream_client import (
    FORWARD,
    BinarySocket,
    Http,
    TextSocket,
    encode,
    generate,
    pack,
    shape,
)

PROMPT = "What is split inference? The device"
TTL = 300.0


class Setup:
    """A served checkpoint; ``now`` is the session store's clock."""

    def __init__(self, path: Path, **flags: Any) -> None:
        self.path = path
        self.now = 0.0
        checkpoint = read_checkpoint(path, path.name)
        catalog = build_catalog(checkpoint)
        reuse: Reuse | None = flags.pop("reuse", None)
        self.service = tiny_service(tiny_backbone(path), clock=lambda: self.now, reuse=reuse)
        original = OriginalProtocol(
            self.service.original,
            encoder(catalog.read(TOKENIZER)),
            half_rows(catalog.legacy[LEGACY_EMBEDDING], self.hidden),
            **flags,
        )
        manifest = build_manifest(checkpoint, catalog)
        self.parts = Parts(
            catalog=catalog,
            manifest=manifest,
            steps=self.service.steps,
            framed=self.service.framed,
            original=original,
        )
        self.base = ""

    @contextmanager
    def serving(self, **settings: Any) -> Iterator[Setup]:
        """On a free port of loopback, which is in ``base``."""
        with running_server(self.path, parts=self.parts, **settings) as server:
            self.base = server.url
            yield self

    @property
    def hidden(self) -> int:
        return self.service.info.hidden_size

    def embed(self, ids: list[int]) -> np.ndarray:
        return oracle.embeddings(self.path, ids).numpy()

    def pick(self, hidden: np.ndarray) -> int:
        return int(oracle.head(self.path, torch.from_numpy(hidden.copy())).argmax())

    def ids(self, text: str = PROMPT) -> list[int]:
        return Tokenizer.from_file(str(self.path / "tokenizer.json")).encode(text).ids

    def generate(
        self, forward: Callable[..., dict[str, Any]], count: int = 12, **options: Any
    ) -> Any:
        stop = set(self.service.info.eos_token_ids)
        prompt = options.pop("prompt", None) or self.ids()
        return generate(forward, self.embed, self.pick, prompt, count, stop, **options)


@pytest.fixture(scope="module")
def open_setup(tiny_path: Path) -> Iterator[Setup]:
    """With tokenizing allowed; sessions stay between the tests of this module."""
    matrices = np.zeros((1, 64), np.float32), np.zeros((64, 1), np.float32)
    banking = AdapterFile("banking", "", 1, 64, 1.0, *matrices, ("loan",), None, "")
    flags: dict[str, Any] = {"allow_tokenize": True, "experts": Experts({"banking": banking})}
    with Setup(tiny_path, **flags).serving() as setup:
        yield setup


@pytest.fixture
def setup(tiny_path: Path) -> Iterator[Setup]:
    """As the server starts by default."""
    with Setup(tiny_path).serving() as setup:
        yield setup


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
        Setup(tiny_path, reuse=reuse).serving() as setup,
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


def test_the_config_is_the_same_over_http_and_websocket(open_setup: Setup) -> None:
    config = httpx.get(open_setup.base + "/api/v1/split/config").json()
    with TextSocket(open_setup.base) as client:
        assert client.ask({"type": "config"}) == {"type": "config"} | config
        assert client.ask({"type": "ping"}) == {"type": "pong"}
    info = open_setup.service.info
    assert config["model"] == info.name
    assert config["vocab_size"] == oracle.model(open_setup.path).config.vocab_size
    assert config["hidden_dim"] == open_setup.hidden
    assert config["num_layers"] == 3
    assert config["eos_token_ids"] == list(info.eos_token_ids)
    assert config["expert_keywords"] == {"banking": ["loan"]}
    assert set(config) >= {
        "he_active",
        "dp_sigma",
        "client_dp_sigma",
        "dp_epsilon",
        "dp_sensitivity",
    }


def test_tokenize_answers_with_the_ids_when_it_is_allowed(open_setup: Setup) -> None:
    wanted = {
        "token_ids": open_setup.ids("Grüße, 東京!"),
        "length": len(open_setup.ids("Grüße, 東京!")),
    }
    url = open_setup.base + "/api/v1/split/tokenize"
    assert httpx.post(url, json={"text": "Grüße, 東京!"}).json() == wanted
    with TextSocket(open_setup.base) as client:
        reply = client.ask({"type": "tokenize", "text": "Grüße, 東京!"})
    assert reply == {"type": "tokenize"} | wanted


def test_tokenize_is_refused_by_default(setup: Setup) -> None:
    response = httpx.post(setup.base + "/api/v1/split/tokenize", json={"text": "hello"})
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "tokenize_disabled"
    with TextSocket(setup.base) as client:
        reply = client.ask({"type": "tokenize", "text": "hello"})
        assert (reply["type"], reply["code"]) == ("error", "tokenize_disabled")
        assert client.ask({"type": "ping"}) == {"type": "pong"}


def test_verify_hashes_the_row_that_a_client_holds(open_setup: Setup) -> None:
    url = open_setup.base + "/api/v1/split/verify"
    for probe in ("hello", "What is"):
        ids = open_setup.ids(probe)
        table = oracle.model(open_setup.path).get_input_embeddings().weight
        row = table[ids[0], :8].detach().half().float().tolist()
        assert httpx.post(url, json={"probe_text": probe}).json() == {
            "token_ids": ids,
            "embed_hash": sum(round(value * 10_000) for value in row),
            "vocab_size": len(table),
            "hidden_dim": open_setup.hidden,
            "status": "ok",
        }
    assert httpx.post(url, json={"probe_text": ""}).json()["status"] == "empty"
    assert httpx.post(url, json={}).json()["token_ids"] == open_setup.ids("hello")


def test_verify_answers_only_the_public_probe_by_default(setup: Setup) -> None:
    url = setup.base + "/api/v1/split/verify"
    assert httpx.post(url, json={"probe_text": "hello"}).json()["status"] == "ok"
    response = httpx.post(url, json={"probe_text": "my secret"})
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "tokenize_disabled"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"probe_text": 5}', b'{"probe_text": "' + b"x" * 300 + b'"}']
)
def test_a_malformed_probe_is_refused(setup: Setup, body: bytes) -> None:
    response = httpx.post(setup.base + "/api/v1/split/verify", content=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "malformed_message"


def test_a_probe_that_is_too_large_is_refused(setup: Setup) -> None:
    response = httpx.post(setup.base + "/api/v1/split/verify", content=b" " * 70_000)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "frame_too_large"


def bad_messages(hidden: int) -> list[tuple[str | bytes, str]]:
    row = np.ones((1, hidden), np.float32)
    hole = row.copy()
    hole[0, 1] = np.nan

    def text(rows: np.ndarray, **fields: Any) -> str:
        return json.dumps(
            {"type": "forward", "hidden_states": encode(rows), **shape(rows), **fields}
        )

    return [
        ("[]", "malformed_message"),
        ("not json", "malformed_message"),
        ("", "malformed_message"),
        (b"", "malformed_message"),
        (b"\xff\xff\xff\xff{}", "malformed_message"),
        (bytes(range(256)), "malformed_message"),
        ('{"type": "steer"}', "unknown_message"),
        (text(hole), "non_finite"),
        (pack(shape(hole), hole), "non_finite"),
        (text(np.ones((1, hidden + 1), np.float32)), "wrong_hidden_size"),
        (text(row, seq_len=2), "wrong_shape"),
        (pack(shape(row), row)[:-2], "wrong_shape"),
        (text(row, session_id="x" * 200), "malformed_message"),
        (text(np.ones((600, hidden), np.float32)), "context_overflow"),
        (struct.pack("<I", 2) + b"{}", "wrong_shape"),
    ]


def test_bad_messages_get_their_codes_and_disturb_no_other_session(setup: Setup) -> None:
    prompt, wanted = setup.ids(), oracle.greedy(setup.path, setup.ids(), 12)
    with TextSocket(setup.base) as bad, BinarySocket(setup.base) as good, Http(setup.base) as http:
        messages = iter(bad_messages(setup.hidden))

        def forward(rows: np.ndarray, **fields: Any) -> dict[str, Any]:
            for _ in range(2):
                message, code = next(messages, (None, ""))
                if message is not None:
                    assert bad.ask(message)["code"] == code
            return good.forward(rows, **fields)

        assert setup.generate(forward, prompt=prompt) == wanted
        assert next(messages, None) is None
        for message, code in bad_messages(setup.hidden):
            kind = "application/json" if isinstance(message, str) else "application/octet-stream"
            response = http.client.post(FORWARD, content=message, headers={"Content-Type": kind})
            assert response.json()["error"]["code"] == code
            assert 400 <= response.status_code < 500
        assert bad.ask({"type": "ping"}) == {"type": "pong"}


def test_a_context_that_is_full_refuses_and_keeps_the_session(setup: Setup) -> None:
    limit = setup.service.info.max_context
    rows = np.resize(setup.embed(setup.ids()), (limit, setup.hidden))
    with BinarySocket(setup.base) as client:
        client.forward(rows[:-1], session_id="full")
        assert client.forward(rows[:1], session_id="full", incremental=True)["cached_seq_len"] == (
            limit - 1
        )
        reply = client.forward(rows[:1], session_id="full", incremental=True)
        assert reply["code"] == "context_overflow"
        anew = client.forward(rows[:2], session_id="full", incremental=False)
    assert anew["seq_len"] == 2


def test_an_unexpected_failure_tells_a_reference_and_nothing_else(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(setup.service.original, "append", fail)
    row = setup.embed([5])
    with TextSocket(setup.base) as client, Http(setup.base) as http:
        reply = client.forward(row)
        assert (reply["type"], reply["code"]) == ("error", "internal_error")
        assert client.ask({"type": "ping"}) == {"type": "pong"}
        answer = http.forward(row)["error"]
    for message in (reply["message"], answer["message"]):
        assert "the cause" not in message
        assert message.split("reference ")[1][:8] in caplog.text
