from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.chat.message import Message
from split_client.chat.steering.answers import Answered, Answers
from split_client.chat.steering.branches import MOST, Branches
from split_client.chat.steering.errors import BranchInvalid, MessageNotRemoved
from split_client.chat.steering.removing import without
from split_client.chat.steering.tokens import Kept, TokenLog
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.head import LMHead
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling.logprobs import token_logprobs
from split_client.model.tokenizer import ModelTokenizer
from split_client.tools.call import ToolCall
from split_server.checkpoint.folder import EMBEDDED
from tests.split_client.generation.weights import write_rows

TOKENIZER = ModelTokenizer.open(Path(EMBEDDED) / "tokenizer.json", 4096)
HIDDEN = 8


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> LMHead:
    weights = np.random.default_rng(5).standard_normal((4096, HIDDEN), dtype=np.float32)
    rows = write_rows(tmp_path_factory.mktemp("rows") / "w", weights)
    return ExactLMHead(rows, HeadSpec(), None)


def states(count: int) -> list[NDArray[np.float32]]:
    rng = np.random.default_rng(7)
    return [rng.normal(size=HIDDEN).astype(np.float32) for _ in range(count)]


def test_alternatives_are_those_that_asking_at_once_would_have_given(head: LMHead) -> None:
    ids, kept = TOKENIZER.encode(" the relay"), states(4)
    log = TokenLog(head, TOKENIZER, [1])
    for token, state in zip(ids, kept, strict=False):
        log.take(token, state)
    told = log.tokens()
    assert "".join(token.text for token in told) == " the relay"
    for token, state in zip(told, kept, strict=False):
        right = token_logprobs(head, state, token.id, 20)
        assert token.logprob == right.logprob
        assert [(each.token, each.logprob) for each in token.alternatives] == list(right.top)


def test_a_state_that_the_caller_uses_again_is_kept_as_it_was(head: LMHead) -> None:
    state = states(1)[0]
    before = token_logprobs(head, state, 5, 20)
    log = TokenLog(head, TOKENIZER, [1])
    log.take(5, state)
    state[:] = 1.0
    assert log.tokens()[0].logprob == before.logprob


def test_the_oldest_states_go_first_and_their_tokens_stay(head: LMHead) -> None:
    log = TokenLog(head, TOKENIZER, [1], most_bytes=2 * 4 * HIDDEN)
    for token, state in enumerate(states(5), 100):
        log.take(token, state)
    assert [token.known for token in log.tokens()] == [False, False, False, True, True]
    assert [token.id for token in log.tokens()] == [100, 101, 102, 103, 104]
    assert log.tokens()[0].alternatives == ()
    assert log.tokens()[0].logprob is None
    assert log.bytes == 2 * 4 * HIDDEN


def test_a_token_that_the_form_forced_has_no_alternatives(head: LMHead) -> None:
    log = TokenLog(head, TOKENIZER, [1], [Kept(7)])
    assert not log.tokens()[0].known


def test_a_control_token_is_told_by_its_name(head: LMHead) -> None:
    (end,) = TOKENIZER.encode("<|im_end|>")
    log = TokenLog(head, TOKENIZER, [1], [Kept(end)])
    assert (log.tokens()[0].text, log.tokens()[0].control) == ("<|im_end|>", True)


def test_the_states_of_all_answers_have_a_bound(head: LMHead) -> None:
    answers = Answers(most_bytes=3 * 4 * HIDDEN)
    logs = [TokenLog(head, TOKENIZER, [1]) for _ in range(2)]
    for number, log in enumerate(logs):
        for token, state in enumerate(states(2)):
            log.take(token, state)
        chat = (Message("user", str(number)), Message("assistant", "x"))
        answers.add(Answered(chat, (1, 0, 1), 1, chat, log))
    assert [log.bytes for log in logs] == [4 * HIDDEN, 2 * 4 * HIDDEN]


def test_an_earlier_answer_is_found_again() -> None:
    answers, chats = Answers(), [(Message("assistant", text),) for text in "ab"]
    for chat in chats:
        answers.add(Answered(chat, (1,), 0, chat))
    found = answers.of(chats[0])
    assert found is not None
    assert found.chat == chats[0]
    answers.forget()
    assert answers.of(chats[0]) is None


def test_branches_are_bounded_and_one_that_is_taken_leaves_the_chat_in_its_place() -> None:
    branches, chats = Branches(), [(Message("assistant", str(n)),) for n in range(MOST + 2)]
    branches.note((Message("user", "unanswered"),))
    for chat in chats:
        branches.note(chat)
    branches.note(chats[-1])
    assert len(branches.all) == MOST
    assert branches.all[0] == chats[-1]
    now = (Message("assistant", "now"),)
    assert branches.take(2, now) == chats[-2]
    assert branches.all[:2] == (now, chats[-1])
    with pytest.raises(BranchInvalid, match="no branch 40"):
        branches.take(40, now)


def test_a_reply_is_taken_out_with_the_results_of_its_calls_and_a_result_never_alone() -> None:
    call = ToolCall("1", "add", "{}")
    chat = (
        Message("user", "q"),
        Message("assistant", "", (call,)),
        Message("tool", "3", (), "1", "add"),
        Message("assistant", "three"),
    )
    assert without(chat, 1) == (chat[0], chat[3])
    for index, words in ((2, "takes both"), (4, "there is no message 5"), (-1, "no message 0")):
        with pytest.raises(MessageNotRemoved, match=words):
            without(chat, index)
