"""Noised mode against the real server with the embedded model: what it is sent, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client import cli
from split_client.api import ChatSession, NoiseSettings, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.model import connected
from split_client.noise.errors import BudgetExhausted, LedgerDamaged, NoiseForbids
from split_client.noise.ledger import Ledger
from split_client.terminal.chat import ChatLoop
from split_client.transport.base import Transport
from split_wire.codec import decode_client_message
from split_wire.messages import Open, Step
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

QUESTION = "What is split inference?"
GREEDY = SamplingParams()
KEY = bytes(range(32))


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(dtype="float32") as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.json"


Connect = Callable[..., SplitClient]


@pytest.fixture
def connect(server: RunningServer, cache: Path, ledger: Path) -> Iterator[Connect]:
    """Makes connected clients with noise on one ledger."""
    clients: list[SplitClient] = []

    def make(**settings: object) -> SplitClient:
        noise = NoiseSettings(ledger=ledger, **settings)  # type: ignore[arg-type]
        clients.append(SplitClient(server.url, cache=cache, noise=noise))
        clients[-1].connect()
        return clients[-1]

    yield make
    for client in clients:
        client.close()


class Sent:
    """The steps that a server was sent, as it sees them."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.dtypes_asked: list[str | None] = []

    def add(self, frame: bytes) -> None:
        message = decode_client_message(frame, 1 << 26)
        if isinstance(message, Step):
            self.steps.append(message)
        elif isinstance(message, Open):
            self.dtypes_asked.append(message.dtype)

    @property
    def rows(self) -> NDArray[np.float32]:
        return np.concatenate([step.embeddings.to_f32() for step in self.steps])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    recorded, real = Sent(), connected.connector

    def connector(*given: object) -> Callable[..., Transport]:
        connect = real(*given)  # type: ignore[arg-type]

        def recording(*arguments: object) -> Transport:
            transport = connect(*arguments)  # type: ignore[arg-type]
            # A WebSocket sends without waiting, and an exchange over it does so too.
            way = "send" if hasattr(transport, "send") else "exchange"
            real_way = getattr(transport, way)

            def told(frame: bytes, timeout: float) -> Any:
                recorded.add(frame)
                return real_way(frame, timeout)

            setattr(transport, way, told)
            return transport

        return recording

    monkeypatch.setattr(connected, "connector", connector)
    return recorded


def table(client: SplitClient) -> NDArray[np.float32]:
    return client.ends.embedder.lookup(list(range(client.manifest.vocab_size)), "f32")


def counted(ledger: Path) -> int:
    return Ledger(ledger).spent("default").rows


def ask(chat: ChatSession, tokens: int = 8, params: SamplingParams = GREEDY) -> tuple[int, ...]:
    chat.params, chat.max_tokens = params, tokens
    reply = chat.send(QUESTION)
    reply.read()
    return reply.token_ids


def test_what_the_server_is_sent_are_rows_with_noise_and_every_one_is_counted(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    client = connect(epsilon=8.0)
    ask(client.conversation())
    rows = sent.rows
    sigma = client._connected().noise.mechanism.sigma  # type: ignore[union-attr]
    distances = np.linalg.norm(rows[:, None] - table(client)[None], axis=2)
    # The nearest row of the table is about as far away as noise of sigma goes.
    assert distances.min() > 0.8 * sigma * rows.shape[1] ** 0.5
    client.close()
    assert counted(ledger) == len(rows) >= 10


def test_little_noise_changes_no_reply_and_much_noise_leaves_nothing_of_the_rows(
    connect: Connect, sent: Sent, server: RunningServer, cache: Path
) -> None:
    with SplitClient(server.url, cache=cache) as plain:
        expected = ask(plain.conversation())
    clean = sent.rows[: -len(expected)]
    little = connect(sigma=1e-6, clip=100.0)
    assert ask(little.conversation()) == expected
    begin = len(sent.rows)
    much = connect(sigma=1e4)
    ask(much.conversation())
    noised = sent.rows[begin : begin + len(clean)]
    correlation = np.corrcoef(noised.ravel(), clean.ravel())[0, 1]
    assert abs(correlation) < 5 / noised.size**0.5
    nearest = (noised @ table(much).T).argmax(axis=1)
    truth = (clean @ table(much).T).argmax(axis=1)
    assert (nearest == truth).mean() < 0.2


def test_a_lost_session_is_sent_again_with_the_same_bytes_and_spends_nothing(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    client = connect(epsilon=20.0)
    chat = client.conversation()
    ask(chat)
    first, spent = sent.rows, client._connected().noise.account.spent()  # type: ignore[union-attr]
    sent.steps.clear()
    chat.close()
    chat.answer().read()
    prompt = len(sent.steps[0].embeddings.to_f32())
    assert sent.steps[0].start == 0
    assert sent.steps[0].embeddings.to_f32().tobytes() == first[:prompt].tobytes()
    again = client._connected().noise.account.spent()  # type: ignore[union-attr]
    assert again == spent
    assert sent.dtypes_asked == [None, "f32"]


def test_a_kept_key_repeats_a_prompt_in_another_session_without_spending(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    for _ in range(2):
        client = connect(epsilon=20.0, key=KEY)
        client.chat([{"role": "user", "content": QUESTION}], GREEDY, max_tokens=1).read()
        client.close()
    first, second = (step.embeddings.to_f32() for step in sent.steps)
    assert first.tobytes() == second.tobytes()
    assert counted(ledger) == len(first)


def test_a_reply_ends_where_the_budget_does_and_the_client_says_so(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    client = connect(sigma=50.0, budget_epsilon=3.0)
    # Of states with so much noise any token may be chosen, one that ends the reply too.
    endless = SamplingParams(banned=frozenset(client.manifest.eos_token_ids))
    with pytest.raises(BudgetExhausted) as caught:
        ask(client.conversation(), 2000, endless)
    assert caught.value.room == 0
    client.close()
    assert counted(ledger) == len(sent.rows)
    assert Ledger(ledger).spent("default").epsilon(1e-5) <= 3.0
    with pytest.raises(BudgetExhausted):
        connect(sigma=50.0, budget_epsilon=3.0)


def test_nothing_is_sent_when_the_prompt_alone_is_too_much(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    client = connect(epsilon=8.0, budget_epsilon=10.0)
    with pytest.raises(BudgetExhausted, match="no row of it was sent"):
        ask(client.conversation())
    assert not sent.steps
    assert not ledger.exists()


def test_a_damaged_ledger_stops_a_client_before_it_sends(
    connect: Connect, sent: Sent, ledger: Path
) -> None:
    ledger.write_text("{}")
    with pytest.raises(LedgerDamaged):
        connect(epsilon=8.0)
    assert not sent.steps
    assert ledger.read_text() == "{}"


def test_what_would_tell_of_the_clean_prompt_is_refused(
    connect: Connect, server: RunningServer, cache: Path, sent: Sent
) -> None:
    client = connect(epsilon=8.0)
    with pytest.raises(NoiseForbids, match="repetition_penalty"):
        client.chat([{"role": "user", "content": "hi"}], SamplingParams(repetition_penalty=1.1))
    chat = client.conversation()
    chat.adapter = "auto"
    with pytest.raises(NoiseForbids, match="auto"):
        chat.send(QUESTION)
    with pytest.raises(NoiseForbids, match="auto"):
        SplitClient(
            server.url, cache=cache, adapter="auto", noise=NoiseSettings(epsilon=8.0)
        ).connect()
    assert not sent.steps


def test_the_terminal_tells_both_units_and_what_the_server_sees(
    server: RunningServer, connect: Connect
) -> None:
    client, screen = connect(epsilon=8.0, budget_epsilon=2000.0), RecordingScreen()
    assert "nothing was sent with noise before" in "\n".join(client.privacy_lines())
    chat = client.conversation()
    chat.params, chat.max_tokens = GREEDY, 4
    ChatLoop(client, chat, TypedReader([QUESTION, "/stats"]), screen).run()
    told = "\n".join(client.privacy_lines(chat))
    assert "one token replaced, each time that it is sent: epsilon 8.00, delta 1e-05" in told
    assert "sensitivity" in told
    assert "the largest distance between two clipped rows of the table" in told
    assert "this conversation so far" in told
    assert "budget 2000.00 for everything replaced, delta 1e-05:" in told
    assert "the server sees the noised rows; split-client audit measures what its attacks" in told


def test_a_chat_that_is_loaded_under_noise_is_told_to_count_anew(
    server: RunningServer, connect: Connect, cache: Path, tmp_path: Path
) -> None:
    file, told = tmp_path / "chat.json", "has no key of its noise"
    for client in (connect(sigma=50.0), SplitClient(server.url, cache=cache)):
        screen, chat = RecordingScreen(), client.conversation()
        chat.params, chat.max_tokens = GREEDY, 1
        ChatLoop(
            client, chat, TypedReader([QUESTION, f"/save {file}", f"/load {file}"]), screen
        ).run()
        assert (told in screen.noted) == (chat.noise is not None)
        client.close()


def command(server: RunningServer, ledger: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    arguments = ["generate", QUESTION, "--url", server.url, "--max-tokens", "3"]
    noise = ["--noise-sigma", "50", "--noise-ledger", str(ledger)]
    return subprocess.run(
        [sys.executable, "-m", "split_client.cli", *arguments, *noise, *flags],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"SPLIT_CONFIG": os.devnull},
        check=False,
    )


def test_a_budget_refuses_across_a_restart_of_the_program(
    server: RunningServer, ledger: Path
) -> None:
    first = command(server, ledger)
    assert first.returncode == 0, first.stderr
    assert "the server sees the noised rows" in first.stderr
    spent = Ledger(ledger).spent("default").epsilon(1e-5)
    second = command(server, ledger, "--noise-budget", f"{spent + 0.01:.4f}")
    assert second.returncode == 1
    assert "[budget_exhausted]" in second.stderr
    assert f"{spent:.2f} is spent" in second.stderr
    assert Ledger(ledger).spent("default").epsilon(1e-5) == spent


def test_flags_that_make_no_noise_are_wrong_usage(
    server: RunningServer, ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--noise-sigma", "50", "--noise-epsilon", "3", "--noise-ledger", str(ledger)]
    assert cli.main(["generate", QUESTION, "--url", server.url, *both]) == 2
    assert "one of the two" in capsys.readouterr().err
    assert not ledger.exists()
