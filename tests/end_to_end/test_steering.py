"""Replies that go on from a place, over real sockets, compared with Hugging Face `generate`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client import AsyncSplitClient, SplitClient
from split_client.api import AsyncReply, ChatSession, Choice, NoiseSettings, SamplingParams
from split_client.chat.context.room import Proposal
from split_client.chat.context.travelling import travelling
from split_client.chat.steering.errors import BranchInvalid, MessageNotRemoved, NothingToContinue
from split_client.errors import PromptEmpty
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer, running_server

GREEDY = SamplingParams()
DRAWN = SamplingParams(
    temperature=1.0, top_k=40, seed=11, frequency_penalty=0.4, repetition_penalty=1.1
)
QUESTION = "What is split inference?"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(
    server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def asked(
    client: SplitClient, params: SamplingParams = GREEDY, max_tokens: int = 30
) -> ChatSession:
    chat = client.conversation(params=params, max_tokens=max_tokens)
    chat.send(QUESTION).read()
    return chat


def prompt_ids(*messages: dict[str, str]) -> list[int]:
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    return list(render(list(messages), add_generation_prompt=True, return_dict=False))


ASKED = {"role": "user", "content": QUESTION}


@pytest.mark.parametrize("params", [GREEDY, DRAWN], ids=["greedy", "drawn, with penalties"])
@pytest.mark.parametrize("drafts", ["off", "auto"])
def test_a_reply_that_was_cut_and_continued_is_the_reply_uncut(
    client: SplitClient, params: SamplingParams, drafts: str
) -> None:
    whole = asked(client, params)
    chat = client.conversation(params=params, max_tokens=7)
    chat.drafts = drafts  # type: ignore[assignment]
    chat.send(QUESTION).read()
    chat.max_tokens = 23
    reply = chat.go_on()
    reply.read()
    assert chat.messages == whole.messages
    assert reply.beginning + reply.text == whole.messages[-1].content
    answered, right = chat.answered, whole.answered
    assert answered is not None
    assert right is not None
    assert answered.ids == right.ids
    assert [token.id for token in reply.tokens] == right.reply
    assert reply.tokens[3].alternatives == whole.tokens[3].alternatives


def test_a_chosen_alternative_costs_one_row_and_one_round_trip_and_goes_on_as_generate(
    client: SplitClient,
) -> None:
    chat = asked(client)
    chat.drafts = "off"
    before = chat.messages
    token = chat.tokens[5]
    assert token.alternatives[0].token == token.id
    other = token.alternatives[2]
    answered = chat.answered
    assert answered is not None
    prefix = [*answered.reply[:5], other.token]
    reply = chat.branch(at=5, token=other.token)
    events = reply.events()
    next(events)
    assert (reply.stats.prompt_sent, reply.stats.round_trips) == (1, 1)
    reply.read()
    assert [each.id for each in reply.tokens[:6]] == prefix
    assert reply.token_ids == oracle.greedy(EMBEDDED, [*prompt_ids(ASKED), *prefix], 30)
    assert chat.messages[-1].content == reply.beginning + reply.text
    assert chat.branches.all == (before,)
    chat.go_to(1)
    assert chat.messages == before
    assert chat.tokens[5].alternatives == token.alternatives


def test_alternatives_are_the_models_own_probabilities(client: SplitClient) -> None:
    chat = asked(client)
    answered = chat.answered
    assert answered is not None
    logits = oracle.logits(EMBEDDED, list(answered.ids)).log_softmax(-1)
    for at in (0, 3, 11):
        right = logits[answered.prompt_tokens + at - 1]
        top = right.topk(20)
        told = chat.tokens[at].alternatives
        assert [each.token for each in told] == top.indices.tolist()
        assert [each.logprob for each in told] == pytest.approx(top.values.tolist(), abs=1e-3)


def test_a_branch_is_chosen_by_the_text_of_a_token(client: SplitClient) -> None:
    chat = asked(client)
    other = chat.tokens[2].alternatives[1]
    reply = chat.branch(2, other.text)
    reply.read()
    assert reply.tokens[2].id == other.token


def test_an_end_token_that_is_chosen_ends_the_reply_without_a_step(client: SplitClient) -> None:
    chat = asked(client)
    (end,) = oracle.tokenizer(EMBEDDED).encode("<|im_end|>", add_special_tokens=False)
    said = "".join(token.text for token in chat.tokens[:4])
    reply = chat.branch(4, end)
    reply.read()
    assert (reply.finish_reason, reply.stats.round_trips) == ("eos", 0)
    assert chat.messages[-1].content == said


def test_a_changed_reply_is_continued_as_generate_continues_it(client: SplitClient) -> None:
    chat = asked(client)
    chat.conversation.amend("Split inference is when the phone")
    with pytest.raises(NothingToContinue, match="not known"):
        chat.branch(0, 5)
    reply = chat.go_on()
    reply.read()
    begun = oracle.tokenizer(EMBEDDED).encode("Split inference is when the phone")
    assert reply.token_ids == oracle.greedy(EMBEDDED, [*prompt_ids(ASKED), *begun], 30)
    assert chat.messages[-1].content == "Split inference is when the phone" + reply.text
    chat.send("And then?").read()
    assert len(chat.messages) == 4


def test_a_reply_that_is_stopped_before_its_first_new_token_stays_as_it_was(
    client: SplitClient,
) -> None:
    chat = asked(client, max_tokens=6)
    before = chat.messages
    reply = chat.go_on()
    client.cancel()
    reply.read()
    assert (reply.finish_reason, chat.messages) == ("cancelled", before)


def test_a_stop_text_that_ended_a_reply_is_no_part_of_what_goes_on(client: SplitClient) -> None:
    chat = asked(client)
    stop = chat.messages[-1].content[20:24]
    chat.stop = stop
    chat.answer().read()
    assert stop not in chat.messages[-1].content
    said = chat.messages[-1].content
    chat.stop = ()
    reply = chat.go_on()
    reply.read()
    assert reply.beginning == said


def test_a_form_holds_from_the_beginning_on(client: SplitClient) -> None:
    chat = client.conversation(params=GREEDY, max_tokens=2)
    chat.form = Choice(("yes, it is an idea", "no, it is none"))
    chat.send(QUESTION).read()
    chat.max_tokens = 30
    reply = chat.go_on()
    reply.read()
    assert reply.value == chat.messages[-1].content
    assert reply.finish_reason == "stop"
    with pytest.raises(BranchInvalid, match="does not permit token 1"):
        chat.branch(0, "The")


def test_what_cannot_be_branched_or_removed_is_refused_and_nothing_changes(
    client: SplitClient,
) -> None:
    chat = client.conversation(params=GREEDY, max_tokens=6)
    with pytest.raises(NothingToContinue):
        chat.go_on()
    chat.send(QUESTION).read()
    before = chat.messages
    for at, token in ((6, 1), (-1, 1), (0, -1), (0, 1 << 40), (0, True), (0, "many words here")):
        with pytest.raises(BranchInvalid):
            chat.branch(at, token)
    for index in (2, -1, 1 << 60):
        with pytest.raises(MessageNotRemoved):
            chat.conversation.remove(index)
    with pytest.raises(PromptEmpty):
        chat.conversation.amend(" ")
    assert (chat.messages, chat.branches.all) == (before, ())


def test_a_message_is_removed_and_the_prompt_is_that_of_the_others(client: SplitClient) -> None:
    chat = asked(client)
    chat.send("And what does the relay do?").read()
    first, reply = chat.messages[:2]
    assert chat.conversation.remove(1) == reply
    assert chat.messages[0] == first
    chat.conversation.remove(0)
    chat.conversation.drop_reply()
    asked_for = {"role": "user", "content": "And what does the relay do?"}
    assert chat.conversation.prompt().ids == prompt_ids(asked_for)


def test_a_reply_to_a_pruned_chat_is_that_of_generate_to_what_is_left(client: SplitClient) -> None:
    chat = client.conversation("Be brief.", params=GREEDY, max_tokens=12)
    for number in range(6):
        chat.send(f"{QUESTION} {number}. Tell me. At once.").read()
    chat.context.set_budget(150)
    chat.context.policy = "oldest"
    told: list[Proposal] = []
    chat.context.told = told.append
    reply = chat.send("And the relay?")
    reply.read()
    sent = travelling(chat.messages)[:-1]
    assert len(sent) < len(chat.messages) - 1
    ids = prompt_ids(*({"role": each.role, "content": each.content} for each in sent))
    assert len(ids) <= 112
    assert reply.token_ids == oracle.greedy(EMBEDDED, ids, 12)
    assert reply.stats.prompt_sent + reply.stats.prompt_restored == told[0].sent
    assert [message.role for message in chat.messages].count("user") == 7


def test_with_noise_a_chosen_token_is_one_more_row_and_a_cut_is_charged_as_what_is_sent(
    server: RunningServer, tmp_path: Path
) -> None:
    noise = NoiseSettings(ledger=tmp_path / "ledger.json", sigma=0.01)
    with SplitClient(server.url, cache=tmp_path, noise=noise) as client:
        chat = asked(client, SamplingParams(temperature=1.0, seed=1), 8)
        assert chat.noise is not None
        rows = chat.noise.spent.rows
        other = chat.tokens[3].alternatives[5].token
        reply = chat.branch(3, other)
        next(reply.events())
        assert chat.noise.spent.rows == rows + 1
        reply.read()
        chat.context.drop(0, 0)
        sent, moved = chat.context.again()
        assert sent > 0
        assert moved == 0
        rows = chat.noise.spent.rows
        chat.max_tokens = 1
        reply = chat.send("And?")
        reply.read()
        assert chat.noise.spent.rows == rows + reply.stats.prompt_sent


def test_a_message_that_is_queued_while_a_reply_streams_is_said_after_it(
    server: RunningServer, tmp_path: Path
) -> None:
    async def queue() -> list[str]:
        async with AsyncSplitClient(server.url, cache=tmp_path) as client:
            chat = await client.conversation(temperature=0, max_tokens=6)
            first = chat.send(QUESTION)
            waiting: list[AsyncReply] = []
            async for _ in first:
                if not waiting:
                    waiting += [chat.queue("And the relay?"), chat.queue("Thank you!")]
            await asyncio.gather(*(reply.read() for reply in waiting))
            again = chat.send("Once more.")
            later = chat.queue("And again.")
            await asyncio.gather(again.read(), later.read())
            return [message.content for message in chat.messages if message.role == "user"]

    said = [QUESTION, "And the relay?", "Thank you!", "Once more.", "And again."]
    assert asyncio.run(queue()) == said


def test_a_client_with_an_event_loop_steers_too(server: RunningServer, tmp_path: Path) -> None:
    async def steer() -> tuple[str, str]:
        async with AsyncSplitClient(server.url, cache=tmp_path) as client:
            chat = await client.conversation(temperature=0, max_tokens=5)
            reply = chat.send(QUESTION)
            await reply.read()
            tokens = await reply.tokens()
            more = chat.go_on()
            await more.read()
            other = chat.branch(1, tokens[1].alternatives[1].token)
            await other.read()
            return more.beginning + more.text, chat.messages[-1].content

    first, second = asyncio.run(steer())
    assert first != second
    assert first[:3] == second[:3]
