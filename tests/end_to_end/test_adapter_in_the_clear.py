"""The embedded model with its banking adapter, applied by the server, over every way there is.

The oracle is Hugging Face on the same checkpoint with the same matrices after its final norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from split_client import cli
from split_client.adapters.errors import UnknownAdapter
from split_client.api import ChatSession, SplitClient
from split_client.errors import ServerRefused
from split_client.generation.sampling.params import SamplingParams
from split_client.terminal.adapter import AdapterView
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.adapted import banking_greedy
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen
from tests.split_server.http.original.upstream_client import (
    BinarySocket,
    Http,
    TextSocket,
    generate,
)

QUESTION, OTHER = "What is an overdraft?", "What is split inference?"
LISTING = "/api/v1/adapters"
COUNT = 30


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(dtype="float32") as running:
        yield running


@pytest.fixture
def client(server: RunningServer, tmp_path: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path) as client:
        yield client


def templated(*messages: str) -> list[int]:
    """Ids of a chat of user and assistant in turns."""
    roles = ("user", "assistant")
    chat = [{"role": roles[i % 2], "content": text} for i, text in enumerate(messages)]
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    return list(render(chat, add_generation_prompt=True, return_dict=False))


def plain(*messages: str) -> list[int]:
    return oracle.greedy(EMBEDDED, templated(*messages), COUNT)


def banking(*messages: str) -> list[int]:
    return banking_greedy(templated(*messages), COUNT)


def ask(chat: ChatSession, text: str) -> list[int]:
    chat.params, chat.max_tokens = SamplingParams(), COUNT
    reply = chat.send(text)
    reply.read()
    return reply.token_ids


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_tokens_are_those_of_the_model_with_the_adapter(
    server: RunningServer, tmp_path: Path, transport: Any
) -> None:
    with SplitClient(server.url, cache=tmp_path, transport=transport, adapter="banking") as client:
        assert ask(client.conversation(), QUESTION) == banking(QUESTION)
        reply = client.chat([{"role": "user", "content": QUESTION}], SamplingParams(), max_tokens=9)
        reply.read()
        assert reply.token_ids == banking(QUESTION)[:9]
        assert reply.adapter == "banking"
    assert banking(QUESTION) != plain(QUESTION)


def test_an_adapter_comes_and_goes_in_the_middle_of_a_chat(client: SplitClient) -> None:
    """The cache is kept: later turns send only what is new."""
    chat = client.conversation()
    first = ask(chat, QUESTION)
    assert first == plain(QUESTION)
    chat.adapter = "banking"
    text = chat.messages[-1].content
    cached = chat.cached_tokens
    assert ask(chat, QUESTION) == banking(QUESTION, text, QUESTION)
    chat.adapter = None
    texts = [message.content for message in chat.messages]
    assert ask(chat, OTHER) == plain(*texts, OTHER)
    assert client.stats.exchanges > 0
    assert chat.cached_tokens > cached


def test_auto_follows_the_words_of_each_message(server: RunningServer, tmp_path: Path) -> None:
    with SplitClient(server.url, cache=tmp_path, adapter="auto") as client:
        chat = client.conversation()
        assert ask(chat, QUESTION) == banking(QUESTION)
        assert chat.adapter_used == "banking"
        texts = [message.content for message in chat.messages]
        assert ask(chat, OTHER) == plain(*texts, OTHER)
        assert chat.adapter_used is None


def test_two_chats_of_one_client_have_adapters_of_their_own(client: SplitClient) -> None:
    adapted, alone = client.conversation(), client.conversation()
    adapted.adapter = "banking"
    for chat in (adapted, alone):
        chat.params, chat.max_tokens = SamplingParams(), COUNT
    first, second = adapted.send(QUESTION), alone.send(QUESTION)
    for _ in zip(first.events(), second.events(), strict=False):
        pass
    shorter = min(len(first.token_ids), len(second.token_ids))
    assert first.token_ids[:shorter] == banking(QUESTION)[:shorter]
    assert second.token_ids[:shorter] == plain(QUESTION)[:shorter]


def test_a_name_that_the_server_does_not_have_is_told_before_the_first_message(
    server: RunningServer, tmp_path: Path
) -> None:
    with pytest.raises(UnknownAdapter, match="banking"):
        SplitClient(server.url, cache=tmp_path, adapter="gardening").connect()


def test_an_adapter_that_the_server_loses_is_told_and_the_chat_goes_on(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SplitClient(server.url, cache=tmp_path, adapter="banking") as client:
        chat = client.conversation()
        assert ask(chat, QUESTION) == banking(QUESTION)
        with monkeypatch.context() as patch:
            patch.setattr(server.parts.steps, "_adapters", {})
            with pytest.raises(ServerRefused) as caught:
                ask(chat, OTHER)
        assert caught.value.code == "unknown_adapter"
        chat.adapter = None
        texts = [message.content for message in chat.messages[:2]]
        assert ask(chat, OTHER) == plain(*texts, OTHER)


ORIGINAL: dict[str, Callable[[str], Any]] = {
    "text": TextSocket,
    "binary": BinarySocket,
    "http": Http,
    "binary http": lambda base: Http(base, binary=True),
}


@pytest.mark.parametrize(
    ("name", "expert"),
    [*((name, "banking_expert") for name in ORIGINAL), ("text", "banking"), ("text", "gardening")],
)
def test_an_original_client_names_it_as_an_expert(
    server: RunningServer, name: str, expert: str
) -> None:
    prompt = templated(QUESTION)
    stop = set(server.parts.steps.info.eos_token_ids)

    def embed(ids: list[int]) -> Any:
        return oracle.embeddings(EMBEDDED, ids).numpy()

    def pick(hidden: Any) -> int:
        return int(oracle.head(EMBEDDED, torch.from_numpy(hidden.copy())).argmax())

    with ORIGINAL[name](server.url) as socket:

        def forward(rows: Any, **fields: Any) -> dict[str, Any]:
            reply = socket.forward(rows, **fields | {"expert_name": expert, "use_he": False})
            assert reply["he_active"] is False
            return reply

        tokens = generate(forward, embed, pick, prompt, COUNT, stop, f"{name} {expert}")
    assert tokens == (plain if expert.startswith("gardening") else banking)(QUESTION)


def test_the_server_lists_its_adapters_to_those_who_may_use_it(server: RunningServer) -> None:
    with server.client() as http:
        [entry] = http.get(LISTING).json()["adapters"]
        assert (entry["name"], entry["rank"], entry["encrypted"]) == ("banking", 16, False)
        assert set(http.get("/api/v1/split/config").json()["expert_keywords"]) == {"banking"}
        assert http.post(LISTING).status_code == 405


def test_without_its_token_the_list_is_not_shown(tiny_path: Path) -> None:
    with running_server(tiny_path, token="a-token-of-enough-length") as guarded:
        with guarded.client() as http:
            assert http.get(LISTING).status_code == 401
        with guarded.client(
            headers={"Authorization": f"Bearer {'a-token-of-enough-length'}"}
        ) as http:
            assert http.get(LISTING).json() == {"adapters": []}


def test_the_command_line_names_an_adapter_and_tells_one_that_is_not_there(
    server: RunningServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "none.toml"))
    (tmp_path / "none.toml").write_text("", "utf-8")
    command = ["generate", QUESTION, "--url", server.url, "--cache", str(tmp_path)]
    command += ["--temperature", "0", "--max-tokens", str(COUNT), "--adapter"]
    said = {}
    for name in ("banking", "auto", "none"):
        assert cli.main([*command, name]) == 0
        said[name] = capsys.readouterr().out
    assert "overdraft lets you spend more" in said["banking"]
    assert said["auto"] == said["banking"] != said["none"]
    assert cli.main([*command, "gardening"]) == 1
    assert "there are: banking [unknown_adapter]" in capsys.readouterr().err


def test_the_terminal_tells_the_adapters_and_who_sees_the_choice(client: SplitClient) -> None:
    screen = RecordingScreen()
    chat = client.conversation()
    view = AdapterView(client, chat, screen)
    view.command("")
    assert "banking: Full answers to banking questions" in screen.noted
    assert "none; replies are those of the model alone" in screen.noted
    view.command("banking")
    assert chat.adapter == "banking"
    flat = " ".join(screen.noted.split())
    assert "applied by the server in the clear: the server sees the name" in flat
    view.command("AUTO")
    ask(chat, QUESTION)
    view.note_used()
    assert screen.noted.rstrip().endswith("adapter: banking")
    ask(chat, OTHER)
    view.note_used()
    assert "no word asked for one" in screen.noted
    view.command("none")
    assert chat.adapter is None
    with pytest.raises(UnknownAdapter):
        view.command("gardening")
    assert chat.adapter is None
