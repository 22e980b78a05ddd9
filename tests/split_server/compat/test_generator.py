"""Generations beside the engine: tokens, reuse of caches, places, cancellation, errors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.errors import PromptEmpty, PromptTooLong
from split_client.generation.constraint import NothingAhead
from split_client.generation.errors import InvalidSamplingParameter, TokenIdOutOfRange
from split_client.generation.loop import Finished, TokenEvent
from split_client.generation.sampling.params import SamplingParams
from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.compat.drafting.beside import Drafting
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import GenerationRequest, Generator, GeneratorLimits
from split_server.compat.keeping import Keeping
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.memory.budget import BudgetLimits
from split_wire.attention import AttentionRequest
from split_wire.errors import AttentionTooLarge, CacheFull, Overloaded
from tests import oracle
from tests.engines import HeldRunner, run, serving, tiny_backbone

PROMPT = tuple(range(11, 31))
COUNT = 12


def request(prompt: tuple[int, ...] = PROMPT, count: int = COUNT, **options: Any) -> Any:
    params = options.pop("params", SamplingParams())
    return GenerationRequest(prompt, params, count, **options)


@asynccontextmanager
async def generating(
    path: Path, bounds: GeneratorLimits | None = None, **options: Any
) -> AsyncIterator[Generator]:
    """A generator beside a running service."""
    checkpoint = read_checkpoint(path, path.name)
    catalog = build_catalog(checkpoint)
    local = LocalEnds.open(catalog, build_manifest(checkpoint, catalog), ModelStore())
    try:
        async with serving(path, **options) as service:
            generator = Generator(local.ends, service.in_process, bounds)
            yield generator
            generator.close()
    finally:
        local.close()


async def events_of(generator: Generator, asked: GenerationRequest) -> list[Any]:
    async with generator.generate("local", asked) as events:
        return [event async for event in events]


def ids_of(events: list[Any]) -> list[int]:
    return [event.token for event in events if isinstance(event, TokenEvent)]


async def until(condition: Any) -> None:
    """Let the loop run until ``condition`` holds."""
    async with asyncio.timeout(20):
        # What it waits for happens on this loop, in no event that could be waited for.
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


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


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (request(()), PromptEmpty),
        (request((1,) * 513), PromptTooLong),
        (request((10**6,)), TokenIdOutOfRange),
        (request(count=0), InvalidSamplingParameter),
    ],
)
def test_what_can_never_run_is_refused_before_it_takes_a_place(
    tiny_path: Path, asked: GenerationRequest, error: type[Exception]
) -> None:
    async def main() -> None:
        async with generating(tiny_path) as generator:
            with pytest.raises(error):
                await events_of(generator, asked)
            assert generator.places.running == 0

    run(main())


def test_attention_that_grows_beyond_its_bound_is_refused_at_once(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_wire.attention.LARGEST_ATTENTION_BYTES", 4 * 1024)

    async def main() -> None:
        async with generating(tiny_path) as generator:
            with pytest.raises(AttentionTooLarge):
                await events_of(generator, request(attention=AttentionRequest(), count=400))

    run(main())


def test_a_generation_without_a_place_is_refused_with_a_delay(tiny_path: Path) -> None:
    async def main() -> None:
        limits = GeneratorLimits(running=1, waiting=0)
        async with (
            generating(tiny_path, limits) as generator,
            generator.generate("local", request(count=400)) as _,
        ):
            with pytest.raises(Overloaded) as refused:
                await events_of(generator, request())
            assert refused.value.retry_after

    run(main())


def test_leaving_early_ends_the_generation_and_frees_its_place(tiny_path: Path) -> None:
    async def main() -> None:
        async with generating(tiny_path, GeneratorLimits(running=1)) as generator:
            asked = request(count=400, ignore_eos=True)
            async with generator.generate("local", asked) as events:
                async for _ in events:
                    break
            after = await events_of(generator, request(ignore_eos=True))
            assert ids_of(after) == oracle.greedy(tiny_path, list(PROMPT), COUNT)
            assert generator.counters.reply_tokens < 400

    run(main())


def test_leaving_drops_a_prompt_that_waits_for_its_turn(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    held = HeldRunner(backbone)

    async def main() -> None:
        async with generating(tiny_path, backbone=backbone, runner=held) as generator:
            async with generator.generate("ann", request(count=1)) as first:
                async with generator.generate("bob", request(count=1)):
                    pass
                held.gate.release(1)
                assert [event async for event in first]
            held.gate.release(1)
            await until(lambda: generator.places.running == 0)
        assert held.runs <= 2

    run(main())


def test_a_cache_that_does_not_fit_is_refused_in_its_own_words(tiny_path: Path) -> None:
    async def main() -> None:
        budget = BudgetLimits(1, 1)
        async with generating(tiny_path, budget=budget) as generator:
            with pytest.raises(CacheFull):
                await events_of(generator, request())

    run(main())


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


@pytest.mark.parametrize("kept", [False, True], ids=["a new sequence", "a kept sequence"])
def test_a_generation_whose_thread_cannot_start_gives_its_place_and_sequence_back(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == "generation":
            raise RuntimeError("can't start new thread")
        start(thread)

    async def main() -> list[Any]:
        async with generating(tiny_path, GeneratorLimits(running=1, waiting=0)) as generator:
            if kept:
                await events_of(generator, request(ignore_eos=True))
                await until(lambda: generator.idle_sequences == 1)
            with monkeypatch.context() as patched:
                patched.setattr(threading.Thread, "start", refused)
                for _ in range(3):
                    with pytest.raises(Overloaded, match="thread"):
                        await events_of(generator, request())
            assert generator.places.running == 0
            assert generator.idle_sequences == int(kept)
            return await events_of(generator, request(ignore_eos=True))

    assert ids_of(run(main())) == oracle.greedy(tiny_path, list(PROMPT), COUNT)


def test_a_generation_that_gets_no_sequence_gives_its_place_back(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with generating(tiny_path, GeneratorLimits(running=1, waiting=0)) as generator:
            with monkeypatch.context() as patched:
                patched.setattr(generator._pool, "_new", None)
                with pytest.raises(TypeError):
                    await events_of(generator, request())
            assert generator.places.running == 0
            await events_of(generator, request())

    run(main())
