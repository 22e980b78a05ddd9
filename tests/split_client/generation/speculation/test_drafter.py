"""Drafts of the length that pays, over networks whose time is computed."""

from __future__ import annotations

import itertools

import pytest

from scripts.bench.drafts.virtual import Network, decoded, plain
from scripts.bench.drafts.workloads import workloads
from scripts.vectors.drafts.texts import Numbers, prose
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import NO_DRAFT, Draft, StepCost
from split_client.generation.speculation.length import AdaptiveLength
from split_client.generation.speculation.memo import Memo
from split_client.generation.speculation.silence import Silence

_TOKENS = 500


WORKLOADS = workloads(_TOKENS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_drafts_are_never_slower_than_none_on_any_network(name: str) -> None:
    prompt, reply = WORKLOADS[name]
    corners = itertools.product((0.0, 0.02, 0.1), (0.0, 0.003, 0.015), (0.5e6, 50e6))
    for round_trip, row, uplink in corners:
        network = Network(round_trip=round_trip, row=row, uplink=uplink)
        told = decoded(Drafter.of_chat(Memo()), network, prompt, reply)
        assert plain(network, len(reply)).seconds / told.seconds >= 0.98, network


def test_a_copy_with_edits_gains_on_every_network() -> None:
    prompt, reply = WORKLOADS["copy with edits"]
    for round_trip, least in ((0.0, 1.3), (0.005, 1.8), (0.02, 2.4), (0.05, 3.0), (0.1, 3.5)):
        network = Network(round_trip=round_trip)
        told = decoded(Drafter.of_chat(), network, prompt, reply)
        assert plain(network, len(reply)).seconds / told.seconds >= least
        assert told.sent <= 2.2 * plain(network, len(reply)).sent


def test_a_copy_with_few_edits_takes_six_tokens_a_step() -> None:
    numbers = Numbers(11)
    text = prose(numbers, 1200)
    copy = list[int]()
    for at in range(0, 1200, 48):
        copy += [*text[at : at + 45], 5000 + at, 5001 + at, 5002 + at]
    drafter = Drafter.of_chat()
    assert decoded(drafter, Network(round_trip=10.0), text, copy).tokens_per_step >= 6


def test_an_expected_text_gains_where_the_chat_holds_none_of_it() -> None:
    text, reply = WORKLOADS["copy with edits"]
    drafter = Drafter.of_chat()
    drafter.expect(text)
    assert decoded(drafter, Network(), [1, 2, 3], reply).tokens_per_step >= 4
    # It was expected of that reply alone.
    prompt, _ = WORKLOADS["prose without a repeat"]
    drafter.draft(prompt, 15)
    assert drafter._given is None


def test_prose_without_a_repeat_costs_hardly_a_byte_more() -> None:
    prompt, reply = WORKLOADS["prose without a repeat"]
    told = decoded(Drafter.of_chat(), Network(), prompt, reply)
    assert told.sent <= 1.1 * plain(Network(), len(reply)).sent


def test_replies_that_were_seen_before_come_at_once() -> None:
    memo, network = Memo(), Network()
    _, reply = WORKLOADS["prose without a repeat"]
    first = decoded(Drafter.of_chat(memo), network, [1, 2, 3], reply)
    again = decoded(Drafter.of_chat(memo), network, [9, 2, 3], reply)
    assert first.tokens_per_step < 1.1
    assert again.tokens_per_step > 10


def test_the_same_tokens_and_times_make_the_same_drafts() -> None:
    prompt, reply = WORKLOADS["records"]
    runs = [decoded(Drafter.of_chat(Memo()), Network(), prompt, reply) for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_fixed_length_is_kept_where_there_is_a_guess() -> None:
    drafter = Drafter.of_chat(fixed=3)
    assert drafter.draft([1, 2, 3, 4, 5, 1, 2], 15).tokens == (3, 4, 5)
    assert drafter.draft([1, 2, 3, 4, 5, 1, 2], 2).tokens == (3, 4)
    assert drafter.draft([1, 2, 3, 4, 5, 1, 2, 9], 15) is NO_DRAFT


def test_a_guess_ends_where_it_is_not_permitted() -> None:
    drafter = Drafter.of_chat(fixed=5)
    assert drafter.draft([1, 2, 3, 4, 5, 1, 2], 15, lambda draft: 1).tokens == (3,)
    assert drafter.draft([1, 2, 3, 4, 5, 1, 2], 15, lambda draft: 0) is NO_DRAFT


@pytest.mark.parametrize("tokens", [[], [1]], ids=["nothing", "one token"])
def test_where_there_is_nothing_to_go_by_there_is_no_draft(tokens: list[int]) -> None:
    assert Drafter.of_chat(Memo()).draft(tokens, 15) is NO_DRAFT


def test_no_room_is_no_draft_and_the_chat_is_followed_all_the_same() -> None:
    drafter = Drafter.of_chat(fixed=4)
    assert drafter.draft([1, 2, 3, 1, 2], 0) is NO_DRAFT
    assert drafter.draft([1, 2, 3, 1, 2], 4).tokens == (3, 1, 2, 3)


def test_what_was_forgotten_is_not_guessed() -> None:
    memo = Memo()
    drafter = Drafter.of_chat(memo, fixed=4)
    drafter.replied([1, 2], [3, 4, 5])
    drafter.expect([6, 7, 8])
    drafter.forget()
    assert drafter.draft([1, 2], 4) is NO_DRAFT


def test_guesses_that_were_not_sent_count_for_their_source() -> None:
    length = AdaptiveLength()
    drafter = Drafter([_Always()], length)
    tokens = [1]
    for _ in range(20):
        # Before a step of one row was timed, nothing is sent.
        assert drafter.draft(tokens, 15) is NO_DRAFT
        tokens = [*tokens, 7]
    assert length.acceptance.first("always", 5) > 0.9


def test_a_broken_clock_does_no_harm() -> None:
    length = AdaptiveLength()
    draft = Draft("suffix", (1, 2, 3), 8)
    for seconds in (0.0, 0.0, 1e9, 0.0):
        length.stepped(StepCost(4, 4, seconds, 0.0, 2.0 * seconds))
        length.stepped(StepCost(1, 1, seconds, 0.0, 0.0))
        length.judged(draft, 2, StepCost(4, 4, seconds, 0.0, 0.0))
        assert 0 <= length.choose(draft).count <= 3


def test_a_source_that_loses_is_silent_for_longer_each_time() -> None:
    silence, pauses = Silence(), list[int]()
    for _ in range(4):
        silence.cost("suffix", 2.0)
        pause = 0
        while not silence.asked("suffix"):
            pause += 1
        pauses.append(pause)
    assert pauses == [32, 64, 128, 256]
    assert silence.asked("memo")


def test_a_source_that_gains_again_is_forgiven() -> None:
    silence = Silence()
    silence.cost("suffix", 2.0)
    silence.cost("suffix", 2.0)
    silence.cost("suffix", -50.0)
    silence.cost("suffix", 7.0)
    assert sum(not silence.asked("suffix") for _ in range(100)) == 32


class _Always:
    name = "always"

    def follow(self, tokens: object) -> None:
        pass

    def draft(self, most: int) -> Draft:
        return Draft("always", (7,) * most, 5)

    def forget(self) -> None:
        pass
