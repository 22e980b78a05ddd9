"""`/attention` of the chat against the real server with the embedded model."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from split_client.api import ChatSession, SplitClient
from split_client.chat.attended import MEAN_ROWS
from split_client.generation.sampling.params import SamplingParams
from split_client.terminal.chat import ChatLoop
from split_server.checkpoint.folder import EMBEDDED
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

QUESTION, NEXT = "What is split inference?", "What does the server see?"
LISTED = re.compile(r" *(\d+\.\d)%  “(.+)”")
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def client(server: RunningServer, cache: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=cache) as client:
        yield client


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")


def greedy(client: SplitClient) -> ChatSession:
    session = client.conversation()
    session.params = SamplingParams()
    return session


def talk(client: SplitClient, *lines: str, interactive: bool = False) -> RecordingScreen:
    screen = RecordingScreen(interactive)
    ChatLoop(client, greedy(client), TypedReader(list(lines)), screen).run()
    return screen


def eager_mean(ids: list[int]) -> Any:
    """What the last position attends to: the mean over layers and heads, [len(ids)]."""
    model = AutoModelForCausalLM.from_pretrained(
        EMBEDDED, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        layers = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.stack([layer[0, :, -1] for layer in layers]).mean((0, 1)).numpy()


def test_what_a_chat_attends_to_is_what_the_whole_model_does(client: SplitClient) -> None:
    session = greedy(client)
    session.send(QUESTION).read()
    answered = session.answered
    assert answered is not None
    ids = answered.ids[:-1]
    weights = session.attend(ids, MEAN_ROWS).values
    wanted = eager_mean(list(ids))
    np.testing.assert_allclose(weights.mean((0, 1)), wanted, atol=5e-4)


def test_without_colours_the_most_attended_tokens_are_listed(client: SplitClient) -> None:
    off = talk(client, QUESTION, NEXT)
    on = talk(client, "/attention", QUESTION, "/attention", NEXT)
    assert on.shown == off.shown
    said, *lines, elsewhere, said_off = on.noted.splitlines()
    assert said.startswith("attention is on: it is shown after each reply, and gathered")
    assert said_off == "attention is off"
    assert lines.pop(0) == "“.” attends to"
    found = [LISTED.fullmatch(line) for line in lines]
    shares = [float(match[1]) for match in found if match is not None]
    assert len(shares) == len(lines) == 8
    assert shares == sorted(shares, reverse=True)
    assert elsewhere.endswith("% on the chat template")


@pytest.mark.usefixtures("colours")
def test_after_a_reply_the_chat_is_printed_again_with_brightness(client: SplitClient) -> None:
    answer = talk(client, QUESTION, interactive=True).shown
    screen = talk(client, "/attention", QUESTION, interactive=True)
    assert screen.shown.startswith(answer)
    again = screen.shown.removeprefix(answer)
    asked, *rest = SGR.sub("", again).strip("\n").splitlines()
    assert (asked, rest[-1]) == ("> " + QUESTION, " <3  3  8  20  50  % of the largest")
    assert "\n".join(rest[:-2]) + "\n" == answer
    assert "\x1b[48;5;227;38;5;16m" in again
    assert all(len(line) < 40 for line in SGR.sub("", screen.shown).splitlines())
    assert len(re.findall(r"attends to “.+%, “.+%, “", screen.noted.replace("\n", " "))) == 1


@pytest.mark.usefixtures("colours")
def test_no_color_and_a_terminal_without_any_get_the_list(
    client: SplitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
        screen = talk(client, QUESTION, "/attention now", interactive=True)
        assert "\x1b" not in screen.shown
        assert len(LISTED.findall(SGR.sub("", screen.noted))) == 8


def test_it_is_shown_at_once_for_the_reply_on_the_screen(client: SplitClient) -> None:
    screen = talk(client, QUESTION, "/attention", NEXT)
    assert screen.noted.count("attends to") == 2


def test_now_shows_it_once(client: SplitClient) -> None:
    screen = talk(client, "/attention now", QUESTION, "/attention now", NEXT)
    assert screen.noted.count("attends to") == 1
    assert screen.noted.startswith("no reply to show the attention of\n")


def test_a_reply_costs_one_row_more_and_no_more_attention_than_announced(
    client: SplitClient,
) -> None:
    session = greedy(client)
    session.send(QUESTION).read()
    before = client.stats
    assert session.answered is not None
    ids = session.answered.ids[:-1]
    weights = session.attend(ids, MEAN_ROWS).values
    after = client.stats
    assert after.exchanges == before.exchanges + 1
    assert weights.shape == (client.manifest.num_layers, 1, len(ids))
    row = 4 * client.manifest.hidden_size
    assert after.bytes_up - before.bytes_up < row + 512
    assert after.bytes_down - before.bytes_down < row + 2 * weights.size + 512


def test_looking_changes_no_reply(client: SplitClient) -> None:
    seen, unseen = greedy(client), greedy(client)
    for session in (seen, unseen):
        session.send(QUESTION).read()
    assert seen.answered is not None
    seen.attend(seen.answered.ids[:5], MEAN_ROWS)
    assert seen.send(NEXT).read() == unseen.send(NEXT).read()


def test_a_server_without_attention_turns_it_off_and_the_chat_goes_on(
    client: SplitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = talk(client, QUESTION, NEXT).shown
    monkeypatch.setattr("split_server.sessions.framed.CAPABILITY", "something_else")
    screen = talk(client, "/attention", QUESTION, NEXT)
    assert screen.shown == replies
    assert screen.noted.splitlines()[1:] == [
        "this server does not tell attention; /attention is off"
    ]


def test_a_wrong_argument_is_one_line(client: SplitClient) -> None:
    screen = talk(client, "/attention later")
    assert screen.noted.startswith("error: /attention takes")
    assert screen.noted.endswith("[setting_invalid]\n")


def test_in_a_pipe_the_replies_stay_apart_from_the_list(server: RunningServer, cache: Path) -> None:
    command = [sys.executable, "-m", "split_client.cli", "chat", "--url", server.url]
    done = subprocess.run(
        [*command, "--cache", str(cache), "--temperature", "0", "--max-tokens", "4"],
        input=f"{QUESTION}\n/attention now\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert len(done.stdout.splitlines()) == 1
    assert len(LISTED.findall(done.stderr)) == 8
