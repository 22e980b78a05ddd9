"""Drafts over real sockets: the replies of the client without them, in fewer round trips."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from split_client.api import ChatSession, SplitClient
from split_client.chat.reply import Reply
from split_client.cli import main
from split_client.errors import ClientError
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.speculation.wanted import Drafts
from split_client.noise.settings import NoiseSettings
from split_client.terminal.chat import ChatLoop
from split_server.adapters.folder import open_adapters
from split_server.serving.adapter_host.startup import EMBEDDED_ADAPTERS
from tests.adapter_hosts import made_host, running_host
from tests.exhaustive import EXHAUSTIVE
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

# Rows of longer steps differ from single ones by some 1e-5; logits that far apart are as good.
NEAR = 1e-4
# Many more are compared without sockets, in tests/scripts/test_bench_drafts.py.
SEEDS = 50 if EXHAUSTIVE else 6
QUESTIONS = (
    "What is split inference?",
    "Say it again, word for word.",
    "List three words and repeat them.",
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def plain(server: RunningServer, cache: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=cache, drafts="off") as client:
        yield client


def asked(chat: ChatSession, text: str, seed: int) -> list[int]:
    warm = SamplingParams(temperature=0.8, top_k=40, top_p=0.95, seed=seed)
    chat.params, chat.max_tokens = warm if seed % 2 else SamplingParams(), 48
    reply = chat.send(text)
    reply.read()
    return reply.token_ids


def margin(client: SplitClient, prompt: list[int], one: list[int], other: list[int]) -> float:
    """How far the logits of the first tokens that differ are apart; 0 where none do."""
    pairs = [i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if not pairs:
        return float("inf") if len(one) != len(other) else 0.0
    first = pairs[0]
    hidden = client.sequence().extend(prompt + one[:first]).hidden
    logits = client.ends.head.logits(np.asarray(hidden))
    return abs(float(logits[one[first]] - logits[other[first]]))


@pytest.mark.parametrize("drafts", ["auto", 15])
def test_every_turn_of_a_chat_is_that_of_a_client_without_drafts(
    server: RunningServer, cache: Path, plain: SplitClient, drafts: int
) -> None:
    accepted = 0
    with SplitClient(server.url, cache=cache, drafts=drafts, draft_memory="server") as client:
        for seed in range(SEEDS):
            one, other = client.conversation(), plain.conversation()
            for text in QUESTIONS:
                ids, wanted = asked(one, text, seed), asked(other, text, seed)
                answered = one.answered
                assert answered is not None
                prompt = list(answered.ids[: answered.prompt_tokens])
                assert margin(plain, prompt, ids, wanted) < NEAR
                if ids != wanted:
                    break
                accepted += len(ids)
            one.close()
            other.close()
    assert accepted


def test_a_reply_that_is_expected_takes_few_round_trips(
    server: RunningServer, cache: Path, plain: SplitClient
) -> None:
    wanted = plain.chat(QUESTIONS[0], temperature=0, max_tokens=60)
    wanted.read()
    with SplitClient(server.url, cache=cache, drafts=15) as client:
        reply = client.chat(QUESTIONS[0], temperature=0, max_tokens=60, expected=wanted.text)
        assert reply.read() == wanted.text
        stats = reply.stats
        assert stats.round_trips < wanted.stats.round_trips / 3
        assert stats.accepted > stats.tokens / 2
        assert stats.prompt_sent == stats.prompt_tokens
        # The last token does not travel, and every other row is one of these.
        sent = stats.prompt_sent + (stats.tokens - 1) + (stats.drafted - stats.accepted)
        assert stats.rows_sent <= sent + stats.accepted
        wrong = client.chat(QUESTIONS[0], temperature=0, max_tokens=60, expected="\ud800 no \x00")
        assert wrong.read() == wanted.text
        with pytest.raises(InvalidSamplingParameter):
            client.chat(QUESTIONS[0], expected=5)  # type: ignore[arg-type]


def test_connections_cut_in_the_middle_of_drafted_steps_lose_and_repeat_no_token(
    server: RunningServer, cache: Path, plain: SplitClient
) -> None:
    wanted = plain.chat(QUESTIONS[0], temperature=0, max_tokens=60)
    wanted.read()
    with (
        CuttingProxy(server.port) as proxy,
        SplitClient(proxy.url, cache=cache, drafts=7) as client,
    ):
        for after in (1, 700, 2_500):
            proxy.cut_after(after)
            reply = client.chat(QUESTIONS[0], temperature=0, max_tokens=60, expected=wanted.text)
            reply.read()
            assert reply.token_ids == wanted.token_ids
        assert client.stats.reconnects


def test_with_noise_there_are_no_drafts(server: RunningServer, cache: Path, tmp_path: Path) -> None:
    noise = NoiseSettings(sigma=0.01, ledger=tmp_path / "ledger")
    with pytest.raises(ClientError) as refused:
        SplitClient(server.url, cache=cache, noise=noise, drafts=4)
    assert refused.value.code == "noise_forbids"
    with SplitClient(server.url, cache=cache, noise=noise) as client:
        chat = client.conversation()
        assert chat.drafts == "off"
        chat.params, chat.max_tokens = SamplingParams(), 12
        reply = chat.send("Again and again and again and again.")
        reply.read()
        assert reply.stats.rows_sent == reply.stats.prompt_tokens + reply.stats.tokens - 1
        for forbidden in (lambda: setattr(chat, "drafts", "auto"), lambda: _expect(chat)):
            with pytest.raises(ClientError) as refused:
                forbidden()
            assert refused.value.code == "noise_forbids"


def _expect(chat: ChatSession) -> None:
    chat.expected = "a text"
    chat.send("Hello.")


def test_a_number_that_no_step_holds_is_cut_and_told(
    server: RunningServer, cache: Path, plain: SplitClient, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = plain.chat(QUESTIONS[0], temperature=0, max_tokens=30).read()
    file = cache / "expected.txt"
    file.write_text(wanted)
    asked = ["generate", QUESTIONS[0], "-t", "0", "-m", "30", "-u", server.url, "--json"]
    options = ["--cache", str(cache), "--drafts", "20", "--draft-file", str(file)]
    assert main([*asked, *options]) == 0
    out, err = capsys.readouterr()
    *tokens, done = [json.loads(line) for line in out.splitlines()]
    assert "drafts have 15 tokens at most, not 20" in err
    assert done["text"] == wanted
    assert done["round_trips"] < done["tokens"] / 3
    assert sum(token["guessed"] for token in tokens) == done["accepted"] <= done["drafted"]
    assert done["rows_sent"] >= done["prompt_sent"] + done["drafted"]


def test_a_number_that_is_none_is_refused_before_anything_connects() -> None:
    for drafts in (0, 32, True, "often", 1.5, None):
        with pytest.raises(ClientError) as refused:
            SplitClient("http://127.0.0.1:1", drafts=drafts)  # type: ignore[arg-type]
        assert refused.value.code == "invalid_sampling_parameter"


def test_an_adapter_host_is_asked_once_for_each_token_and_never_for_a_draft(
    server: RunningServer, cache: Path
) -> None:
    question = "What is an overdraft?"
    adapters = open_adapters(EMBEDDED_ADAPTERS, 192)
    with running_host(made_host(adapters, budget=1_000)) as hosting, hosting.client() as asking:

        def left() -> int:
            return int(hosting.open(asking, "banking")["queries_left"])

        def reply(drafts: Drafts, expected: str | None) -> Reply:
            with SplitClient(
                server.url,
                cache=cache,
                adapter="banking",
                adapter_host=hosting.url,
                drafts=drafts,
            ) as client:
                made = client.chat(question, temperature=0, max_tokens=20, expected=expected)
                made.read()
                return made

        begun = left()
        plain = reply("off", None)
        between = left()
        drafted = reply(7, plain.text[:20] + " but then something else entirely")
        assert drafted.token_ids == plain.token_ids
        assert drafted.stats.drafted > drafted.stats.accepted > 0
        assert begun - between == between - left() == len(plain.token_ids)


def test_a_person_sets_drafts_and_is_told_what_they_brought(
    server: RunningServer, cache: Path
) -> None:
    screen = RecordingScreen()
    lines = [QUESTIONS[0], "/set drafts 20", "/retry", "/stats", "/set drafts 40", "/server"]
    with SplitClient(server.url, cache=cache) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = SamplingParams(), 30
        ChatLoop(client, chat, TypedReader([*lines]), screen).run()
        assert chat.drafts == 20
    assert "drafts 20 · " in screen.noted
    assert screen.noted.count("drafts have 15 tokens at most, not 20") == 1
    assert "drafts = '40' is not allowed" in screen.noted
    # What was taken back is remembered, and said again.
    told = next(line for line in screen.noted.splitlines() if line.startswith("last reply: "))
    assert " in 3 round trips" in told or " in 2 round trips" in told
    assert "the sizes of steps tell how far guesses hold" in " ".join(screen.shown.split())
