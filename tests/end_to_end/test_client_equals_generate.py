"""The client over real sockets against the real server, compared with Hugging Face `generate`."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from split_client.api import ChatSession, SplitClient
from split_client.errors import MessageInvalid, ModelChanged, PromptEmpty, PromptTooLong
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server

GREEDY = SamplingParams()
TURNS = ("What is split inference?", "And what does the relay do?", "Thank you!")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@contextmanager
def client_of(url: str, cache: Path, **options: Any) -> Iterator[SplitClient]:
    with SplitClient(url, cache=cache, **options) as client:
        yield client


@pytest.fixture
def client(server: RunningServer, tmp_path: Path) -> Iterator[SplitClient]:
    with client_of(server.url, tmp_path) as client:
        yield client


def templated(path: Path, messages: list[dict[str, str]]) -> list[int]:
    """Hugging Face's own ids of a chat."""
    render = oracle.tokenizer(path).apply_chat_template
    return list(render(messages, add_generation_prompt=True, return_dict=False))


def expected(path: Path, messages: list[dict[str, str]], count: int = 40) -> list[int]:
    return oracle.greedy(path, templated(path, messages), count)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def ask(chat: ChatSession, text: str) -> list[int]:
    chat.params, chat.max_tokens = GREEDY, 40
    reply = chat.send(text)
    reply.read()
    return reply.token_ids


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_chat_replies_are_those_of_generate(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    with client_of(server.url, tmp_path, transport=transport) as client:
        reply = client.chat([user(TURNS[0])], GREEDY, max_tokens=40)
        reply.read()
        assert client.stats.transport == transport
    assert reply.token_ids == expected(EMBEDDED, [user(TURNS[0])])


def test_plain_prompts_are_continued_like_generate(client: SplitClient) -> None:
    reply = client.generate("The device holds the", GREEDY, max_tokens=24)
    text = reply.read()
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    prompt = tokenizer("The device holds the").input_ids
    wanted = oracle.greedy(EMBEDDED, prompt, 24)
    assert reply.token_ids == wanted
    assert text == tokenizer.decode(wanted, skip_special_tokens=True)


def test_every_turn_of_a_chat_equals_generate_and_sends_only_new_tokens(
    client: SplitClient,
) -> None:
    chat = client.conversation("You are brief.")
    messages = [{"role": "system", "content": "You are brief."}]
    for turn, text in enumerate(TURNS):
        messages.append(user(text))
        before = 0 if chat.answered is None else len(chat.answered.ids)
        chat.params, chat.max_tokens = GREEDY, 40
        reply = chat.send(text)
        content = reply.read()
        assert reply.token_ids == expected(EMBEDDED, messages)
        # The reply's last token has travelled only if it was a draft.
        assert 0 <= reply.stats.prompt_sent - (reply.stats.prompt_tokens - before) <= min(before, 1)
        assert turn == 0 or reply.stats.prompt_sent < 30
        messages.append(said(content))


def test_undo_edit_and_retry_equal_generate(client: SplitClient) -> None:
    chat = client.conversation()
    first = ask(chat, TURNS[0])
    ask(chat, TURNS[1])
    again = chat.answer()
    again.read()
    assert again.token_ids == expected(
        EMBEDDED, [user(TURNS[0]), said(chat.messages[1].content), user(TURNS[1])]
    )
    assert chat.conversation.undo() == TURNS[1]
    edited = ask(chat, "What is CKKS?")
    assert edited == expected(
        EMBEDDED, [user(TURNS[0]), said(chat.messages[1].content), user("What is CKKS?")]
    )
    chat.conversation.undo()
    chat.conversation.undo()
    assert ask(chat, TURNS[0]) == first


def test_sessions_in_between_do_not_disturb_each_other(client: SplitClient) -> None:
    left, right = client.conversation(), client.conversation()
    replies = [ask(left, TURNS[0]), ask(right, TURNS[1]), ask(left, TURNS[2]), ask(right, TURNS[2])]
    first, second = [user(TURNS[0])], [user(TURNS[1])]
    assert replies[0] == expected(EMBEDDED, first)
    assert replies[1] == expected(EMBEDDED, second)
    for index, (chat, messages) in enumerate(((left, first), (right, second))):
        messages += [said(chat.messages[1].content), user(TURNS[2])]
        assert replies[2 + index] == expected(EMBEDDED, messages)


@pytest.mark.parametrize("transport", ["auto", "websocket", "http"])
def test_connections_cut_in_the_middle_of_answers_change_nothing(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    with (
        CuttingProxy(server.port) as proxy,
        client_of(proxy.url, tmp_path, transport=transport) as client,
    ):
        chat = client.conversation()
        chat.params, chat.max_tokens = GREEDY, 40
        reply = chat.send(TURNS[0])
        for count, _ in enumerate(reply.events()):
            if count % 7 == 3:
                proxy.cut_after(500)
        assert client.stats.reconnects >= 3
    assert reply.token_ids == expected(EMBEDDED, [user(TURNS[0])])


def test_a_server_that_restarts_is_sent_the_conversation_again(tmp_path: Path) -> None:
    with running_server() as first:
        client = SplitClient(first.url, cache=tmp_path)
        client.connect()
        chat = client.conversation()
        chat.params, chat.max_tokens = GREEDY, 40
        events = chat.send(TURNS[0]).events()
        ids = [next(events).token for _ in range(5)]  # type: ignore[union-attr]
        port = first.port
    with running_server(port=port):
        ids += [event.token for event in events if hasattr(event, "token")]
        client.close()
    assert ids == expected(EMBEDDED, [user(TURNS[0])])


def test_replies_of_every_family_equal_generate_and_are_kept_as_generated(
    family_path: Path, tmp_path: Path
) -> None:
    first, second = "Hello, how are you?", "Grüße, 東京!"
    with running_server(family_path) as server, client_of(server.url, tmp_path) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = GREEDY, 24
        replies = []
        for text in (first, second):
            replies.append(chat.send(text))
            replies[-1].read()
        ids = [reply.token_ids for reply in replies]
    # Random text rarely encodes to the ids that it was generated as.
    prompt = templated(family_path, [user(first)])
    assert ids[0] == oracle.greedy(family_path, prompt, 24)
    end = "" if replies[0].finish_reason == "eos" else "<|im_end|>"
    rest = f"{end}\n<|im_start|>user\n{second}<|im_end|>\n<|im_start|>assistant\n"
    encoded = AutoTokenizer.from_pretrained(family_path).encode(rest, add_special_tokens=False)
    assert ids[1] == oracle.greedy(family_path, prompt + ids[0] + encoded, 24)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_replies_through_the_relay_equal_generate(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    with relay_to(server.port) as url, client_of(url, tmp_path, transport=transport) as client:
        reply = client.chat([user(TURNS[1])], GREEDY, max_tokens=40)
        reply.read()
    assert reply.token_ids == expected(EMBEDDED, [user(TURNS[1])])


@contextmanager
def relay_to(port: int) -> Iterator[str]:
    """The real relay in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "split_relay.cli", "--no-qr", "--listen", listen]
    process = subprocess.Popen(
        [*command, "--upstream", f"127.0.0.1:{port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        shown = ""
        while listen not in shown:
            line = process.stdout.readline()
            assert line, shown
            shown += line
        yield f"http://{listen}"
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_prompts_longer_than_one_step_equal_generate(client: SplitClient) -> None:
    text = " ".join(f"Fact {i}: the relay forwards bytes." for i in range(150))
    reply = client.generate(text, GREEDY, max_tokens=8)
    reply.read()
    assert reply.stats.prompt_tokens > 512
    prompt = AutoTokenizer.from_pretrained(EMBEDDED)(text).input_ids
    assert reply.token_ids == oracle.greedy(EMBEDDED, prompt, 8)


def test_messages_and_limits_that_cannot_be_are_refused(client: SplitClient) -> None:
    with pytest.raises(MessageInvalid):
        client.chat([user("Hello"), {"role": "user"}])
    with pytest.raises(InvalidSamplingParameter):
        client.chat([user("Hello")], max_tokens=0)
    with pytest.raises(PromptEmpty):
        client.generate("")
    with pytest.raises(PromptTooLong):
        client.generate("relay " * 5000)
    assert client.chat([user(TURNS[0])], GREEDY, max_tokens=3).read()


def test_another_model_behind_the_address_is_named(tmp_path: Path, tiny_path: Path) -> None:
    with running_server() as first:
        client = SplitClient(first.url, cache=tmp_path)
        client.connect()
        chat = client.conversation()
        chat.send(TURNS[0]).read()
    with running_server(tiny_path, port=first.port), pytest.raises(ModelChanged):
        chat.send(TURNS[1]).read()
    client.close()


def test_a_seed_repeats_a_sampled_reply(client: SplitClient) -> None:
    params = SamplingParams(temperature=1.5, top_p=0.95, seed=7)
    texts = {client.chat([user("Tell me something.")], params).read() for _ in range(2)}
    other = client.chat([user("Tell me something.")], SamplingParams(temperature=1.5, seed=8))
    assert len(texts) == 1
    assert other.read() not in texts


def test_a_token_costs_little_more_than_its_two_rows(client: SplitClient) -> None:
    reply = client.chat([user(TURNS[0])], GREEDY)
    counts = [(event, client.stats.bytes_up) for event in reply.events()]
    per_token = counts[-2][1] - counts[-3][1]
    row = 4 * client.manifest.hidden_size
    assert row < per_token < row + 300
