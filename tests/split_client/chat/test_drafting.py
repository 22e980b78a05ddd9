from __future__ import annotations

from typing import Any

import pytest

from split_client.chat.conversation import Conversation
from split_client.chat.drafting import ChatDrafts, Drafting
from split_client.chat.session import ChatSession
from split_client.generation.errors import InvalidSamplingParameter
from split_client.noise.errors import NoiseForbids
from tests.split_client.chat.test_session import Letters

SONG = [1, 2, 3, 4, 5, 6, 7, 8]


def learns(drafts: ChatDrafts) -> None:
    drafter = drafts.drafter()
    assert drafter is not None
    drafter.draft([9, 9], 0)
    drafter.replied([9, 9], SONG)


def remembers(drafts: ChatDrafts) -> bool:
    """Whether another chat's tokens are guessed to go on as the song."""
    drafter = drafts.drafter()
    assert drafter is not None
    return drafter.draft([5, *SONG[:4]], 3).tokens == tuple(SONG[4:7])


def test_a_chat_remembers_what_it_took_back_and_forgets_it_with_the_chat() -> None:
    drafts = Drafting(3, "chat").chat()
    learns(drafts)
    assert remembers(drafts)
    drafts.forget()
    assert not remembers(drafts)


def test_nothing_is_remembered_for_another_chat_unless_that_is_asked_for() -> None:
    for memory, known in (("chat", False), ("server", True)):
        drafting = Drafting(3, memory)  # type: ignore[arg-type]
        first, second = drafting.chat(), drafting.chat()
        learns(first)
        assert remembers(second) is known
        first.forget()
        assert remembers(second) is known
        drafting.forget()
        assert not remembers(second)


def test_another_client_knows_nothing() -> None:
    learns(Drafting(3, "server").chat())
    assert not remembers(Drafting(3, "server").chat())


def test_another_connection_begins_without_memory() -> None:
    drafting = Drafting(3, "server")
    learns(drafting.chat())
    assert remembers(drafting.chat())
    again = drafting.anew()
    assert (again.drafts, again.memory) == (3, "server")
    assert not remembers(again.chat())


def test_drafts_that_are_off_have_no_drafter() -> None:
    drafts = Drafting("off", "chat").chat()
    assert drafts.drafter() is None
    drafts.drafts = 3
    learns(drafts)
    drafts.drafts = "off"
    assert drafts.drafter() is None


def test_another_number_changes_nothing_of_what_is_remembered() -> None:
    drafts = Drafting(3, "chat").chat()
    learns(drafts)
    for wanted in ("off", 4):
        drafts.drafts = wanted  # type: ignore[assignment]
    assert remembers(drafts)


def test_an_expected_text_is_that_of_one_reply() -> None:
    drafts = Drafting(3, "chat").chat()
    first = drafts.drafter(SONG)
    assert first is not None
    assert first.draft([9, 9], 3).tokens == (1, 2, 3)
    second = drafts.drafter()
    assert second is not None
    assert second.draft([9, 9], 3).tokens == ()


def session(drafts: ChatDrafts, noise: Any = None) -> ChatSession:
    letters = Letters()
    made: Any = (None, Conversation(letters, letters), None, None, noise, None, drafts)
    return ChatSession(*made)


@pytest.mark.parametrize("begin_anew", ["clear", "replace"])
def test_a_new_chat_in_the_same_window_begins_without_memory(begin_anew: str) -> None:
    drafts = Drafting(3, "chat").chat()
    chat = session(drafts)
    learns(drafts)
    chat.conversation.say("Hello")
    assert remembers(drafts)
    getattr(chat.conversation, begin_anew)(*([()] if begin_anew == "replace" else []))
    assert not remembers(drafts)


def test_a_chat_with_noise_takes_no_drafts_and_any_chat_no_nonsense() -> None:
    chat = session(Drafting("off", "chat").chat(), noise=object())
    for wanted in ("auto", 3):
        with pytest.raises(NoiseForbids):
            chat.drafts = wanted  # type: ignore[assignment]
    chat.drafts = "off"
    with pytest.raises(InvalidSamplingParameter):
        session(Drafting("auto", "chat").chat()).drafts = 99
