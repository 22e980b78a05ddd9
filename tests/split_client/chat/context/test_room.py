from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from split_client.chat.bound import TextBound
from split_client.chat.context.errors import ContextFull, ContextInvalid, ContextTooSmall
from split_client.chat.context.fill import TokenCounter
from split_client.chat.context.pruning import candidates, without
from split_client.chat.context.room import ChatContext, Proposal
from split_client.chat.context.travelling import MARK, travelling
from split_client.chat.context.units import units_of
from split_client.chat.conversation import Conversation
from split_client.chat.message import Message
from split_client.model.tokenizer import ModelTokenizer
from split_client.template.template import ChatTemplate
from split_server.checkpoint.folder import EMBEDDED

FOLDER = Path(EMBEDDED)
TOKENIZER = ModelTokenizer.open(FOLDER / "tokenizer.json", 4096)
HUGGING_FACE = AutoTokenizer.from_pretrained(FOLDER)
TEMPLATE = ChatTemplate(HUGGING_FACE.chat_template, {})
LIMIT = 1024
SENTENCE = "The relay copies bytes and knows nothing of them. "


@pytest.fixture(scope="module", autouse=True)
def _template() -> Iterator[None]:
    yield
    TEMPLATE.close()


def made(turns: int, *, budget: int | None = None) -> tuple[Conversation, ChatContext]:
    conversation = Conversation(
        TEMPLATE, TOKENIZER, "Be brief.", TextBound(LIMIT, TOKENIZER.longest_token)
    )
    said = [
        Message(role, f"{role} {number}. {SENTENCE * 3}")
        for number in range(turns)
        for role in ("user", "assistant")
    ]
    conversation.replace([*conversation.messages, *said, Message("user", "And now?")])
    counter = TokenCounter(conversation.encoded)
    context = ChatContext(conversation, counter, lambda: LIMIT, lambda _: (0, 0))
    context.set_budget(budget)
    return conversation, context


def rendered(messages: tuple[Message, ...]) -> list[int]:
    """Hugging Face's own ids of what travels."""
    documents = [{"role": each.role, "content": each.content} for each in messages]
    render = HUGGING_FACE.apply_chat_template
    return list(render(documents, add_generation_prompt=True, return_dict=False))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_prompt_is_what_transformers_makes_of_the_messages_that_are_left(
    data: st.DataObject,
) -> None:
    texts = st.lists(
        st.sampled_from(
            ("One. ", "Two!\n", "- a\n", "```\nx = 1\n```\n", "| a |\n", "Ünïcode 😀. ", "你好。")
        ),
        min_size=1,
        max_size=6,
    ).map("".join)
    conversation, context = made(0)
    said = [
        Message(("user", "assistant")[number % 2], text)
        for number, text in enumerate(data.draw(st.lists(texts, min_size=2, max_size=8)))
    ]
    said = said[: len(said) // 2 * 2]
    conversation.replace([Message("system", "Be brief."), *said, Message("user", "And now?")])
    chat = conversation.messages
    places = [(at, unit) for at, each in enumerate(chat[:-1]) for unit in units_of(each)]
    for at, unit in data.draw(st.lists(st.sampled_from(places), max_size=8)):
        context.drop(at, units_of(chat[at]).index(unit))
    sent = travelling(conversation.messages)
    assert conversation.prompt().ids == rendered(sent)
    assert [each.content for each in conversation.messages] == [each.content for each in chat]
    context.restore()
    assert conversation.prompt().ids == rendered(chat)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="aB1.!? \n`|-#>\"'。é😀", max_size=60))
def test_units_are_all_of_a_text_whatever_it_is(text: str) -> None:
    units = units_of(Message("assistant", text))
    assert "".join(text[unit.start : unit.stop] for unit in units) == text
    assert all(unit.stop > unit.start for unit in units)


def test_the_meter_counts_what_is_sent_by_message() -> None:
    conversation, context = made(3)
    fill = context.fill()
    assert fill.total == len(conversation.prompt().ids)
    assert fill.messages[0] == len(TOKENIZER.encode("Be brief."))
    assert fill.template == fill.total - sum(fill.messages) > 0
    assert fill.budget == LIMIT
    context.drop(1)
    assert context.fill().messages[1] == len(TOKENIZER.encode(MARK))
    context.drop(2)
    assert context.fill().messages[1:3] == (0, 0)
    assert context.tokens("And now?") == len(TOKENIZER.encode("And now?"))


def test_the_oldest_go_until_three_quarters_are_left_and_immune_ones_stay() -> None:
    conversation, context = made(8, budget=400)
    told: list[Proposal] = []
    context.told = told.append
    context.policy = "oldest"
    before = conversation.messages
    context.make_room(64)
    assert len(told) == 1
    tokens = len(conversation.prompt().ids)
    assert tokens == told[0].pruned.tokens <= 300
    assert told[0].pruned.before == conversation.count(before)
    assert told[0].sent == tokens
    after = conversation.messages
    assert after[:2] == before[:2]
    assert after[-2:] == before[-2:]
    assert [each.content for each in after] == [each.content for each in before]
    gone = [bool(each.dropped) for each in after[2:-1]]
    assert gone == sorted(gone, reverse=True)
    context.make_room(64)
    assert len(told) == 1


def test_what_is_pinned_stays_and_the_policy_of_pins_drops_all_the_rest() -> None:
    conversation, context = made(8, budget=400)
    context.pin(3)
    context.policy = "pinned"
    context.make_room(64)
    sent = travelling(conversation.messages)
    texts = [each.content for each in sent]
    chat = conversation.messages
    assert texts == [chat[0].content, chat[1].content, MARK, chat[3].content, MARK, "And now?"]


def test_without_anybody_to_ask_a_budget_of_ones_own_refuses_and_changes_nothing() -> None:
    conversation, context = made(8, budget=300)
    before = conversation.messages
    with pytest.raises(ContextFull, match="the budget of this chat is 300"):
        context.make_room(64)
    context.ask = lambda _: False
    with pytest.raises(ContextFull):
        context.make_room(64)
    assert conversation.messages == before
    asked: list[Proposal] = []

    def agree(proposal: Proposal) -> bool:
        asked.append(proposal)
        return True

    context.ask = agree
    context.make_room(64)
    assert len(conversation.prompt().ids) <= 225
    assert asked[0].pruned.units > 0


@pytest.mark.parametrize("run", [".", ". ", '."', "\n", " ", "|\n", "`", "1.\n", "a.b. ", "。"])
def test_no_text_takes_more_than_linear_time(run: str) -> None:
    message = Message("assistant", run * (400_000 // len(run)))
    began = time.process_time()
    units_of(message)
    assert time.process_time() - began < 6.0


def test_many_ranges_of_a_long_message_take_no_long_time() -> None:
    content = "One. " * 20_000
    ranges = tuple((start, start + 5) for start in range(0, len(content), 10))
    message = Message("assistant", content, dropped=ranges)
    chat = (Message("user", "a"), message, Message("user", "b"), Message("assistant", "c"))
    began = time.process_time()
    left = candidates(chat)
    assert len(left) == 10_000
    assert time.process_time() - began < 5.0


def test_who_declines_is_asked_again_only_where_nothing_fits_any_more() -> None:
    conversation, context = made(4)
    asked: list[Proposal] = []
    context.ask = lambda proposal: bool(asked.append(proposal))
    context.set_budget(conversation.count(conversation.messages) + 4)
    context.make_room(64)
    context.make_room(64)
    assert len(asked) == 1


def test_a_system_message_that_is_longer_than_the_context_has_its_words() -> None:
    conversation, context = made(6, budget=200)
    conversation.set_system(SENTENCE * 30)
    context.policy = "oldest"
    with pytest.raises(ContextTooSmall, match="shorten the system message"):
        context.make_room(64)


def test_a_chat_that_is_too_long_for_its_template_is_pruned_all_the_same() -> None:
    conversation, context = made(3000)
    assert not context.fill().exact
    context.policy = "oldest"
    context.make_room(64)
    assert 0 < len(conversation.prompt().ids) <= LIMIT * 3 // 4


def test_what_is_dropped_by_hand_may_be_immune_and_what_is_not_there_has_its_words() -> None:
    conversation, context = made(2)
    context.drop(0)
    assert travelling(conversation.messages)[0].role == "user"
    for message, unit in ((-1, None), (9, None), (1, 99), (1, -1)):
        with pytest.raises(ContextInvalid):
            context.drop(message, unit)
    with pytest.raises(ContextInvalid):
        context.restore(77)
    with pytest.raises(ContextInvalid):
        context.pin(77)
    with pytest.raises(ContextInvalid, match="a policy is one of"):
        context.policy = "newest"  # type: ignore[assignment]
    for budget in (0, -1, 63, True, 1 << 40):
        with pytest.raises(ContextInvalid):
            context.set_budget(budget)
    assert context.restore() == 1
    assert context.restore() == 0


def test_an_edit_and_an_undo_keep_what_the_earlier_messages_left_out() -> None:
    conversation, context = made(3)
    context.drop(2, 0)
    dropped = conversation.messages[2].dropped
    assert dropped
    conversation.undo()
    conversation.say("Another question.")
    assert conversation.messages[2].dropped == dropped


def test_a_proposal_changes_nothing_and_takes_no_unit_twice() -> None:
    conversation, context = made(6, budget=400)
    before = conversation.messages
    proposal = context.propose("oldest")
    assert proposal is not None
    assert conversation.messages == before
    context.take(proposal)
    left = candidates(conversation.messages)
    assert without(conversation.messages, left) != conversation.messages
    everything = without(conversation.messages, left)
    assert candidates(everything) == []


def test_messages_with_what_is_dropped_are_read_back_as_they_were() -> None:
    from split_client.chat.reading import message_in

    message = replace(Message("user", "One. Two."), dropped=((0, 5),), pinned=True)
    assert message_in(json.loads(json.dumps(message.as_dict()))) == message


@pytest.mark.parametrize(
    "dropped",
    [
        "all",
        [[0, 99]],
        [[2, 1]],
        [[1, 1]],
        [[-1, 2]],
        [[0, 2], [2, 3]],
        [[3, 4], [0, 1]],
        [[0, True]],
        [[0.0, 2]],
        [["0", "2"]],
        [[0]],
        [0, 2],
        [[0, 1 << 70]],
        [[0, 1]] * 20_000,
        {"0": 1},
    ],
)
def test_what_is_no_range_of_the_text_is_refused_with_its_words(dropped: object) -> None:
    from split_client.chat.reading import message_in

    refused = message_in({"role": "user", "content": "One. Two.", "dropped": dropped})
    assert refused == "its 'dropped' are no ranges of its text, in order and apart"
