"""Rows behind hidden ones, against Hugging Face with a mask that hides the same positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_server.kv.lineage import Lineage
from split_wire.attention import AttentionRequest
from split_wire.hiding.spans import Spans
from tests import oracle
from tests.engines import tiny_backbone

PROMPT = [*range(7, 47)]
# One ends within the last window of 16 positions, and one begins before it.
HIDDEN: Spans = ((4, 7), (9, 20), (22, 35))
REPLY = 12


class Masked:
    """Hugging Face's model, whose later rows do not see ``hidden`` positions of the first ones."""

    def __init__(self, path: Path) -> None:
        self._path, self._cache = path, DynamicCache()
        self._mask = torch.zeros(1, 0, dtype=torch.long)

    def hide(self, spans: Spans) -> None:
        self._mask[:] = 1
        for start, end in spans:
            self._mask[:, start:end] = 0

    def logits(self, ids: list[int], **options: Any) -> Any:
        start = self._mask.shape[1]
        self._mask = torch.cat((self._mask, torch.ones(1, len(ids), dtype=torch.long)), 1)
        with torch.inference_mode():
            return oracle.model(self._path)(
                torch.tensor([ids]),
                attention_mask=self._mask,
                position_ids=torch.arange(start, start + len(ids))[None],
                past_key_values=self._cache,
                use_cache=True,
                **options,
            )

    def greedy(self, ids: list[int], count: int) -> list[int]:
        found = list[int]()
        for _ in range(count):
            ids = [int(self.logits(ids).logits[0, -1].argmax())]
            found += ids
        return found


class Ours:
    """``beside``: another one, whose model it computes with."""

    def __init__(self, path: Path, beside: Ours | None = None) -> None:
        self._path = path
        self._runner = beside._runner if beside else ModelRunner(tiny_backbone(path))
        self.cache = KVCache()

    def hidden(self, ids: list[int], start: int | None = None) -> torch.Tensor:
        start = self.cache.length if start is None else start
        rows = oracle.embeddings(self._path, ids).clone()
        return self._runner.run([Slice(self.cache, start, rows)])[0]

    def logits(self, ids: list[int], start: int | None = None) -> torch.Tensor:
        return oracle.head(self._path, self.hidden(ids, start).clone())

    def greedy(self, ids: list[int], count: int) -> list[int]:
        found = list[int]()
        for _ in range(count):
            ids = [int(self.logits(ids)[-1].argmax())]
            found += ids
        return found

    def attention(self, ids: list[int], request: AttentionRequest) -> Any:
        tap = self._runner.tap(request, self.cache.length + len(ids))
        rows = oracle.embeddings(self._path, ids).clone()
        self._runner.run([Slice(self.cache, self.cache.length, rows, tap)])
        return tap.rows()


def both(path: Path) -> tuple[Ours, Masked]:
    ours, masked = Ours(path), Masked(path)
    ours.logits(PROMPT)
    masked.logits(PROMPT)
    return ours, masked


def test_tokens_behind_hidden_rows_are_those_of_a_mask(family_path: Path) -> None:
    ours, masked = both(family_path)
    ours.cache.hide(HIDDEN)
    masked.hide(HIDDEN)
    assert ours.greedy([3], REPLY) == masked.greedy([3], REPLY)


def test_several_rows_at_once_see_what_a_mask_leaves(family_path: Path) -> None:
    ours, masked = both(family_path)
    ours.cache.hide(HIDDEN)
    masked.hide(HIDDEN)
    for ids in ([9, 8, 7, 6], PROMPT[::-1], [5]):
        torch.testing.assert_close(
            ours.logits(ids), masked.logits(ids).logits[0], atol=2e-4, rtol=1e-4
        )


def test_what_is_shown_again_is_seen_again(family_path: Path) -> None:
    ours, masked = both(family_path)
    for hidden in (HIDDEN, (), ((5, 30),), ((5, 9), (12, 40))):
        ours.cache.hide(hidden)
        masked.hide(hidden)
        ids = [11, 3]
        torch.testing.assert_close(
            ours.logits(ids), masked.logits(ids).logits[0], atol=2e-4, rtol=1e-4
        )


def test_a_cache_cut_within_a_hidden_span_goes_on_from_there(family_path: Path) -> None:
    ours, masked = both(family_path)
    ours.cache.hide(HIDDEN)
    found = ours.logits([9, 8, 7], start=28)
    assert ours.cache.hidden == ((4, 7), (9, 20), (22, 28))
    masked = Masked(family_path)
    masked.logits(PROMPT[:28])
    masked.hide(HIDDEN)
    torch.testing.assert_close(found, masked.logits([9, 8, 7]).logits[0], atol=2e-4, rtol=1e-4)


def test_a_cache_cut_below_all_hidden_spans_is_a_plain_one(family_path: Path) -> None:
    ours, _ = both(family_path)
    ours.cache.hide(HIDDEN)
    ours.logits([9])
    ids = [*PROMPT[:4], 1, 2, 3]
    found = ours.logits([1, 2, 3], start=4)
    assert ours.cache.hidden == ()
    assert ours.cache.lineage.tier == "exact"
    torch.testing.assert_close(found, oracle.logits(family_path, ids)[4:], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("ids", [[3], [9, 8, 7]])
def test_attention_answers_in_positions_with_nothing_at_hidden_ones(
    family_path: Path, ids: list[int]
) -> None:
    model = oracle.model(family_path)
    ours, masked = both(family_path)
    ours.cache.hide(HIDDEN)
    masked.hide(HIDDEN)
    rows = ours.attention(ids, AttentionRequest()).values
    model.set_attn_implementation("eager")
    try:
        wanted = masked.logits(ids, output_attentions=True).attentions
    finally:
        model.set_attn_implementation("sdpa")
    for layer, weights in enumerate(wanted):
        torch.testing.assert_close(rows[layer], weights[0, :, -1], atol=1e-5, rtol=1e-4)
    for start, end in HIDDEN:
        assert not rows[:, :, start:end].any()


def test_the_largest_weights_are_named_by_their_positions(family_path: Path) -> None:
    whole = Ours(family_path)
    ours = Ours(family_path, whole)
    for each in (whole, ours):
        each.logits(PROMPT)
        each.cache.hide(HIDDEN)
    every = whole.attention([3], AttentionRequest()).values
    # More than there are rows that are seen.
    found = ours.attention([3], AttentionRequest(top_k=len(PROMPT)))
    gathered = every.gather(-1, found.positions.long())
    torch.testing.assert_close(found.values, gathered, atol=0, rtol=0)
    assert all(len({*row.tolist()}) == len(PROMPT) for row in found.positions.flatten(0, 1))


def test_sessions_in_one_pass_see_their_own_rows(family_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(family_path))
    apart, together = [Ours(family_path) for _ in range(3)], [Ours(family_path) for _ in range(3)]
    hidden: list[Spans] = [(), HIDDEN, ((5, 38),)]
    for each, spans in zip([*apart, *together], hidden * 2, strict=True):
        each.logits(PROMPT)
        each.cache.hide(spans)
    texts = [[3], [5], [9, 8, 7]]
    rows = [oracle.embeddings(family_path, ids).clone() for ids in texts]
    slices = [Slice(each.cache, len(PROMPT), own) for each, own in zip(together, rows, strict=True)]
    for each, ids, found in zip(apart, texts, runner.run(slices), strict=True):
        torch.testing.assert_close(found, each.hidden(ids), atol=1e-4, rtol=1e-4)


def test_rows_behind_hidden_ones_are_approximate(tiny_path: Path) -> None:
    ours = Ours(tiny_path)
    ours.logits(PROMPT)
    ours.cache.hide(HIDDEN)
    assert ours.cache.lineage.tier == "exact"
    ours.logits([3, 4])
    ours.cache.hide(())
    ours.logits([5])
    lineage: Lineage = ours.cache.lineage
    assert lineage.nameless
    assert lineage.inexact(ours.cache.length).approximate == 3
    ours.cache.truncate(len(PROMPT) + 1)
    assert lineage.nameless
    ours.cache.truncate(len(PROMPT))
    assert not lineage.nameless
    assert lineage.tier == "exact"
