"""Where guesses come from: the chat, earlier replies, a text that is expected."""

from __future__ import annotations

import time
import tracemalloc
from collections import Counter

import pytest

from scripts.vectors.drafts.texts import Numbers
from split_client.generation.speculation.given import Given
from split_client.generation.speculation.memo import Memo
from split_client.generation.speculation.ngrams import LONGEST, Ngrams
from split_client.generation.speculation.suffix import Suffix


def _plainly(text: list[int], most: int, least: int = 4) -> tuple[int, list[int]] | None:
    """Longest match, most frequent then newest continuation, looked for at every position."""

    def match(at: int) -> int:
        count = 0
        while count < min(at, LONGEST) and text[at - 1 - count] == text[-1 - count]:
            count += 1
        return count

    longest = max((match(at) for at in range(1, len(text))), default=0)
    if longest < least:
        return None
    going = [at for at in range(len(text) - 1, 0, -1) if match(at) == longest][:16]
    out = list[int]()
    while len(out) < most:
        said = [(text + out)[at + len(out)] for at in going]
        votes = Counter(said)
        token = max(votes, key=lambda one: (votes[one], -said.index(one)))
        going = [at for at, one in zip(going, said, strict=True) if one == token]
        out.append(token)
    return longest, out


def _drafted(tokens: list[int], most: int = 5) -> tuple[int, ...]:
    source = Suffix()
    source.follow(tokens)
    draft = source.draft(most)
    return () if draft is None else draft.tokens


def test_what_followed_the_same_tokens_is_guessed_again() -> None:
    assert _drafted([1, 2, 3, 4, 5, 6, 7, 1, 2, 3]) == (4, 5, 6, 7, 1)


def test_nothing_is_guessed_where_nothing_matches() -> None:
    assert _drafted([]) == _drafted([1]) == _drafted([1, 2, 3, 4]) == ()


def test_the_longest_match_wins_over_a_newer_one() -> None:
    assert _drafted([1, 2, 3, 4, 5, 50, 9, 3, 4, 5, 60, 1, 2, 3, 4, 5], 1) == (50,)


def test_of_equal_matches_the_most_frequent_continuation_wins_then_the_newest() -> None:
    assert _drafted([1, 2, 3, 30, 1, 2, 3, 30, 1, 2, 4, 1, 2], 2) == (3, 30)
    assert _drafted([1, 2, 3, 1, 2, 4, 1, 2], 1) == (4,)


def test_a_repetition_is_guessed_to_go_on() -> None:
    assert _drafted([7, 8, 9, 7, 8, 9, 7], 8) == (8, 9, 7, 8, 9, 7, 8, 9)


@pytest.mark.parametrize("seed", range(20))
def test_guesses_are_those_of_a_plain_search(seed: int) -> None:
    draw = Numbers(seed)
    text = [draw.below(3 + seed % 5) for _ in range(60)]
    source, grown = Suffix(), list[int]()
    for token in text:
        grown.append(token)
        source.follow(grown)
        draft, plain = source.draft(6), _plainly(grown, 6)
        if plain is not None:
            assert draft is not None
            assert (draft.match, list(draft.tokens)) == plain


@pytest.mark.parametrize("seed", range(10))
def test_a_chat_that_is_cut_and_grown_is_as_one_that_was_made_so(seed: int) -> None:
    draw = Numbers(seed)
    source, chat = Suffix(), list[int]()
    for _ in range(30):
        chat = chat[: draw.below(len(chat) + 1)]
        chat += [draw.below(4) for _ in range(1 + draw.below(89))]
        source.follow(chat)
        fresh = Suffix()
        fresh.follow(chat)
        mine, its = source._text, fresh._text
        assert mine.tokens.tolist() == chat
        assert (mine._heads, mine._chains) == (its._heads, its._chains)


def test_a_change_in_the_middle_that_leaves_the_end_as_it_was_is_noticed() -> None:
    source, chat = Suffix(), [index % 7 for index in range(300)]
    source.follow(chat)
    changed = [*chat[:50], 99, *chat[51:], *range(100)]
    source.follow(changed)
    assert source._text.tokens.tolist() == changed


def test_behind_a_difference_a_copy_is_taken_up_again() -> None:
    copied = list(range(100, 140))
    source = Suffix()
    for put_in in ([900], [900, 901, 902], []):
        for left_out in (0, 2, 4):
            chat = [*copied, 1, *copied[:12]]
            source.follow(chat)
            source.draft(3)
            # One token of the copy is enough to find the place.
            back = 12 + left_out
            chat = [*chat, *put_in, *copied[back : back + 1]]
            source.follow(chat)
            draft = source.draft(4)
            assert draft is not None
            assert draft.tokens == tuple(copied[back + 1 : back + 5]), (put_in, left_out)


def test_an_expected_text_is_guessed_from_its_beginning_and_again_after_an_edit() -> None:
    text = list(range(50, 90))
    source = Given(text)
    chat = [1, 2, 3]
    source.follow(chat)
    draft = source.draft(4)
    assert draft is not None
    assert draft.tokens == (50, 51, 52, 53)
    chat += [50, 51, 7, 8, 9, 54]
    source.follow(chat)
    source.draft(4)
    chat.append(55)
    source.follow(chat)
    draft = source.draft(4)
    assert draft is not None
    assert draft.tokens == (56, 57, 58, 59)


def test_nothing_is_expected_beyond_the_end_of_a_text() -> None:
    source = Given([5, 6, 7])
    source.follow([1])
    assert source.draft(9) is not None
    source.follow([1, 5, 6, 7])
    assert source.draft(9) is None
    assert Given([]).draft(3) is None


def test_earlier_replies_are_guessed_by_what_preceded_and_forgotten_when_told() -> None:
    memo = Memo()
    memo.replied([1, 2, 3], [4, 5, 6, 7])
    memo.follow([9, 2, 3])
    draft = memo.draft(9)
    assert draft is not None
    # What stands between two replies is guessed by nobody.
    assert draft.tokens == (4, 5, 6, 7)
    memo.forget()
    memo.follow([9, 2, 3])
    assert memo.draft(9) is None
    assert len(memo) == 0


def test_a_memo_stays_within_its_bytes_and_the_oldest_replies_go() -> None:
    memo = Memo(16 * 1000)
    for start in range(0, 5000, 50):
        memo.replied([], list(range(start, start + 50)))
        assert len(memo) <= 1000
    memo.follow([10, 11, 12])
    assert memo.draft(3) is None
    memo.follow([4960, 4961, 4962])
    draft = memo.draft(3)
    assert draft is not None
    assert draft.tokens == (4963, 4964, 4965)


def test_a_reply_longer_than_the_memo_leaves_its_end() -> None:
    memo = Memo(16 * 100)
    memo.replied(list(range(500)), list(range(1000, 2000)))
    assert len(memo) <= 100
    memo.follow([1990, 1991])
    draft = memo.draft(2)
    assert draft is not None
    assert draft.tokens == (1992, 1993)


def test_ids_of_the_largest_vocabularies_are_held() -> None:
    text = Ngrams(repeats=True)
    text.extend([2**31 - 1, 0, 2**31 - 1, 0])
    assert text.found(text.tail(), 2) == (2, [2])


def test_a_chat_of_a_hundred_thousand_tokens_takes_few_bytes_and_little_time() -> None:
    draw = Numbers(3)
    chat = [draw.below(50_000) for _ in range(100_000)]
    tracemalloc.start()
    source = Suffix()
    source.follow(chat[:20_000])
    # Lists that stand for arrays while they are made are a part of what is held.
    grown = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 5 * grown < 32 << 20
    source.follow(chat)
    begun = time.process_time()
    for token in chat[:300]:
        chat.append(token)
        source.follow(chat)
        source.draft(15)
    # A bar of 0.2 ms, with room for a busy machine.
    assert (time.process_time() - begun) / 300 < 0.001
