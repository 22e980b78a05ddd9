"""Sentences that a reply looked at least, of prompts whose tokens are their characters."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from split_client.chat.brightness.formula import BORN
from split_client.generation.loop import TokenEvent, TokenTiming
from split_server.compat.kobold.pruning import Pruning
from split_wire.attention import AttentionWeights


class Characters:
    """Token n is the character n; those below 32 are control tokens."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        return "".join(chr(n) for n in ids if n >= 32 or not skip_special_tokens)


PROMPT = "\x01Be brief.\x02\x01One here. Two there.\x02\x01Three. Four.\x02\x01And now?\x02\x01bot"
IDS = [ord(character) for character in PROMPT]


def event(row: np.ndarray | None) -> TokenEvent:
    weights = None if row is None else AttentionWeights(row.astype(np.float32)[None, None])
    return TokenEvent(65, "A", 1.0, 1, TokenTiming(0, 0, 0, 0), weights)


def looking_at(text: str, length: int) -> np.ndarray:
    row = np.zeros(length)
    row[0] = 0.5
    start = PROMPT.index(text)
    row[start : start + len(text)] = 0.5 / len(text)
    return row


def named(pruning: Pruning) -> list[str]:
    told = pruning.document()["prunable_sentences"]
    return [PROMPT[each["start"] : each["end"]] for each in told]


def test_what_the_reply_did_not_look_at_is_named_the_dimmest_first() -> None:
    pruning = Pruning.of(Characters(), IDS)
    assert named(pruning) == []
    for count, text in enumerate(["Two there", "Two there", "Three"]):
        pruning.take(event(looking_at(text, len(IDS) + count)))
    assert named(pruning) == ["Be brief.", "One here. ", "Four."]
    told = pruning.document()["prunable_sentences"]
    assert [(each["turn_id"], each["sentence_id"]) for each in told] == [(0, 0), (1, 0), (2, 1)]
    assert all(each["brightness"] < BORN and each["max_attention"] == 0 for each in told)


def test_the_largest_share_is_told() -> None:
    pruning = Pruning.of(Characters(), IDS)
    row = np.full(len(IDS), 1 / len(IDS))
    pruning.take(event(row))
    told = pruning.document()["prunable_sentences"]
    assert told
    assert all(abs(each["max_attention"] - 1 / len(IDS)) < 1e-6 for each in told)


def test_the_last_two_turns_and_short_prompts_are_not_named() -> None:
    for ids in (IDS[PROMPT.index("\x01And") :], [ord(each) for each in "No turns. At all."], [65]):
        pruning = Pruning.of(Characters(), ids)
        pruning.take(event(np.full(len(ids), 1 / len(ids))))
        assert pruning.document()["prunable_sentences"] == []


def test_a_token_without_a_row_still_counts_as_a_position() -> None:
    pruning = Pruning.of(Characters(), IDS)
    pruning.take(event(None))
    pruning.take(event(looking_at("Four", len(IDS) + 1)))
    assert "Four." not in named(pruning)


def test_the_event_names_its_request() -> None:
    told = json.loads(Pruning.of(Characters(), IDS).encoded({"request_id": "a"}))
    assert told == {"type": "pruning_suggestion", "prunable_sentences": [], "request_id": "a"}
