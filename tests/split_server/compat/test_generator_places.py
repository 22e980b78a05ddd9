"""Generations that are refused, left or fail give back what they took."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from split_client.errors import PromptEmpty, PromptTooLong
from split_client.generation.errors import InvalidSamplingParameter, TokenIdOutOfRange
from split_server.compat.generator import GenerationRequest, GeneratorLimits
from split_server.memory.budget import BudgetLimits
from split_wire.attention import AttentionRequest
from split_wire.errors import AttentionTooLarge, CacheFull, Overloaded
from tests import oracle
from tests.engines import HeldRunner, run, tiny_backbone
from tests.split_server.compat.generating import (
    COUNT,
    PROMPT,
    events_of,
    generating,
    ids_of,
    request,
    until,
)


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
