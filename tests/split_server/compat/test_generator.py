"""Generations beside the engine: their tokens, and the caches that they go on from."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.constraint import NothingAhead
from split_client.generation.loop import Finished, TokenEvent
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import read_checkpoint
from split_server.compat.drafting.beside import Drafting
from split_server.compat.generator import GenerationRequest
from split_server.compat.keeping import Keeping
from split_server.engine.model.loader import Backbone, load_backbone
from split_wire.attention import AttentionRequest
from tests import oracle
from tests.engines import run
from tests.split_server.compat.generating import (
    COUNT,
    PROMPT,
    events_of,
    generating,
    ids_of,
    request,
    until,
)


def test_greedy_tokens_of_several_generations_at_once_equal_generate(family_path: Path) -> None:
    prompts = [PROMPT, PROMPT[:7], (*PROMPT[3:], 50, 51)]

    async def main() -> list[list[Any]]:
        async with generating(family_path) as generator:
            asked = [request(prompt, ignore_eos=True) for prompt in prompts]
            return await asyncio.gather(*(events_of(generator, one) for one in asked))

    for prompt, events in zip(prompts, run(main()), strict=True):
        assert ids_of(events) == oracle.greedy(family_path, list(prompt), COUNT)
        assert events[-1].reason == "length"


def test_a_prompt_that_continues_an_earlier_one_sends_only_what_is_new(tiny_path: Path) -> None:
    async def main() -> tuple[int, int, list[int], list[int]]:
        async with generating(tiny_path) as generator:
            first = await events_of(generator, request(ignore_eos=True))
            longer = (*PROMPT, *ids_of(first), 50, 51)
            second = await events_of(generator, request(longer, ignore_eos=True))
            await until(lambda: generator.counters.generations == 2)
            assert generator.counters.cached_tokens == len(PROMPT) + COUNT - 1
            return len(longer), second[0].rows, list(longer), ids_of(second)

    length, rows, prompt, ids = run(main())
    assert rows == length - (len(PROMPT) + COUNT - 1)
    assert ids == oracle.greedy(tiny_path, prompt, COUNT)


def backbone(path: Path, dtype: str) -> Backbone:
    return load_backbone(read_checkpoint(path, path.name), dtype, "cpu")


SEEDED = SamplingParams(temperature=1.0, seed=5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("length", [24, 40, 100, 200, 301])
def test_a_seed_repeats_a_reply_to_the_bit_when_its_prompt_is_cached(
    tiny_path: Path, dtype: str, length: int
) -> None:
    prompt = tuple(3 + 7 * at % 250 for at in range(length))

    async def main() -> list[list[Any]]:
        asked = request(prompt, params=SEEDED, logprobs=5)
        async with generating(tiny_path, backbone=backbone(tiny_path, dtype)) as generator:
            told = [await events_of(generator, asked) for _ in range(3)]
            assert generator.counters.cached_tokens == 2 * (length - 1)
            return told

    first, *again = run(main())
    for other in again:
        assert ids_of(other) == ids_of(first)
        for one, its in zip(first[:-1], other[:-1], strict=True):
            assert its.logprobs == one.logprobs


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_it_does_without_a_cache_as_well_whatever_came_between(tiny_path: Path, dtype: str) -> None:
    prompt = tuple(3 + 7 * at % 250 for at in range(200))

    async def main() -> list[list[Any]]:
        kept = request(prompt, params=SEEDED, logprobs=5)
        alone = replace(kept, keeping=Keeping(cache="off"))
        # Passes of so few rows leave the slices of a prefill no choice.
        made = {"backbone": backbone(tiny_path, dtype), "pass_rows": 4}
        async with generating(tiny_path, **made) as generator:
            return [await events_of(generator, asked) for asked in (alone, kept, kept, alone)]

    first, *others = run(main())
    for other in others:
        assert [event.logprobs for event in other[:-1]] == [e.logprobs for e in first[:-1]]


@pytest.mark.parametrize(("dtype", "drafted"), [("bfloat16", 1), ("float32", 2)])
def test_with_a_seed_drafts_are_made_only_where_states_are_whole(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, drafted: int
) -> None:
    asked_for: list[GenerationRequest] = []
    made = Drafting.drafter

    def counted(drafting: Drafting, _: str, asked: GenerationRequest, passes: Any) -> Any:
        asked_for.append(asked)
        return made(drafting, _, asked, passes)

    monkeypatch.setattr(Drafting, "drafter", counted)

    async def main() -> None:
        async with generating(tiny_path, backbone=backbone(tiny_path, dtype)) as generator:
            await events_of(generator, request(count=2))
            await events_of(generator, request(count=2, params=SEEDED))

    run(main())
    assert len(asked_for) == drafted


def test_an_unrelated_prompt_leaves_a_kept_sequence_alone(tiny_path: Path) -> None:
    async def main() -> list[int]:
        async with generating(tiny_path) as generator:
            await events_of(generator, request(ignore_eos=True))
            await until(lambda: generator.idle_sequences == 1)
            await events_of(generator, request((PROMPT[0], 90, 91, 92)))
            again = await events_of(generator, request((*PROMPT, 70)))
            return [event.rows for event in again if isinstance(event, TokenEvent)]

    # The last token of the prompt is what differs.
    assert run(main())[0] == 1


def test_a_principal_never_continues_the_sequence_of_another(tiny_path: Path) -> None:
    async def main() -> list[int]:
        async with generating(tiny_path) as generator:
            rows = []
            for principal in ("ann", "bob"):
                async with generator.generate(principal, request(count=1)) as events:
                    rows += [event.rows async for event in events if isinstance(event, TokenEvent)]
                await until(lambda: generator.places.running == 0)
            return rows

    assert run(main()) == [len(PROMPT), len(PROMPT)]


def test_every_token_brings_its_attention(tiny_path: Path) -> None:
    async def main() -> list[Any]:
        async with generating(tiny_path) as generator:
            asked = request(attention=AttentionRequest(), ignore_eos=True, count=5)
            return await events_of(generator, asked)

    events = run(main())
    widths = [e.attention.values.shape[2] for e in events if isinstance(e, TokenEvent)]
    assert widths == [len(PROMPT) + k for k in range(5)]
    for event in events[:-1]:
        np.testing.assert_allclose(event.attention.values.sum(-1), 1, atol=1e-5)


def test_stop_tokens_end_a_reply_like_the_models_own(tiny_path: Path) -> None:
    greedy = oracle.greedy(tiny_path, list(PROMPT), COUNT)

    async def main() -> list[Any]:
        async with generating(tiny_path) as generator:
            asked = request(stop_tokens=frozenset({greedy[3]}), ignore_eos=True)
            return await events_of(generator, asked)

    events = run(main())
    assert ids_of(events) == greedy[: greedy.index(greedy[3]) + 1]
    assert events[-1] == Finished("eos", "")


def test_a_constraint_decides_what_may_follow(tiny_path: Path) -> None:
    wanted = [40, 41, 42]

    class Script(NothingAhead):
        def __init__(self) -> None:
            self.left = list(wanted)

        @property
        def finished(self) -> bool:
            return not self.left

        def allowed(self, remaining: int) -> Any:
            mask = np.zeros(oracle.model(tiny_path).config.vocab_size, bool)
            mask[self.left[0]] = True
            return mask

        def accept(self, token: int) -> None:
            assert token == self.left.pop(0)

    async def main() -> list[Any]:
        async with generating(tiny_path) as generator:
            return await events_of(
                generator, replace(request(), constraint=lambda: nullcontext(Script()))
            )

    events = run(main())
    assert ids_of(events) == wanted
    assert events[-1].reason == "stop"
