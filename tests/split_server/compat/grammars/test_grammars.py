"""Grammars in processes of their own: the same replies, and costs that end where they begin."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import psutil
import pytest

from split_client.grammar.compiling import compiled_form
from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.form import Form, JsonObject, JsonSchema
from split_client.grammar.vocabulary import Vocabulary
from split_server.compat.grammars.grammars import Grammars, MakeConstraint
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.process import GrammarProcess, Words
from split_wire.errors import Overloaded, ShuttingDown
from tests.checkpoints import tiny_tokenizer
from tests.engines import run
from tests.split_client.grammar.schemas import random_schema, weighted, write

EOS = frozenset({0, 2})
ROWS = 325
# A machine under other tests is slow by the clock; processor time does not know them.
PATIENT = GrammarLimits(seconds=30.0, compile_seconds=30.0)
# Each passes the checks of a schema and costs seconds and gigabytes of its own.
COSTLY: dict[str, dict[str, Any]] = {
    "choices of multiples": {
        "type": "integer",
        "allOf": [{"anyOf": [{"multipleOf": 8633}]}, {"anyOf": [{"multipleOf": 83}]}],
    },
    "many multiples": {
        "properties": {f"p{n}": {"type": "integer", "multipleOf": 9973 - n} for n in range(60)}
    },
    "many names": {"properties": {f"a{n}": {"type": "string"} for n in range(9000)}},
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def form(schema: dict[str, Any] | None) -> Form:
    return JsonObject() if schema is None else JsonSchema.of(schema)


@asynccontextmanager
async def opened(tokenizer: Any, limits: GrammarLimits = PATIENT) -> AsyncIterator[Grammars]:
    grammars = Grammars(Words(tokenizer.to_str(), ROWS, EOS), limits)
    try:
        yield grammars
    finally:
        grammars.close()


def written(make: MakeConstraint, seed: int, most: int) -> list[int]:
    with make() as constraint:
        return write(constraint, weighted(seed), most, EOS)


def test_replies_are_those_of_the_grammar_in_the_same_process(tokenizer: Any) -> None:
    near = Vocabulary(tokenizer.to_str(), ROWS, EOS)

    async def main() -> None:
        async with opened(tokenizer) as grammars:
            for seed in range(4):
                schema = random_schema(seed)
                make = await grammars.maker("a", form(schema))
                tokens = await asyncio.to_thread(written, make, seed, 250)
                assert tokens == write(
                    compiled_form(near, form(schema))(), weighted(seed), 250, EOS
                )
                jsonschema.validate(json.loads(tokenizer.decode(tokens)), schema)

    run(main())


def test_what_is_forced_and_permitted_is_told_by_the_process_too(tokenizer: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "null"}}, "required": ["n"]}
    near = compiled_form(Vocabulary(tokenizer.to_str(), ROWS, EOS), form(schema))()

    def told(make: MakeConstraint) -> tuple[list[int], list[int], int]:
        with make() as constraint:
            forced = constraint.forced(50)
            return forced, constraint.forced(1), constraint.permitted([*forced, 5], 50)

    async def main() -> None:
        async with opened(tokenizer) as grammars:
            make = await grammars.maker("a", form(schema))
            forced = near.forced(50)
            assert len(forced) > 1
            expected = (forced, forced[:1], near.permitted([*forced, 5], 50))
            assert await asyncio.to_thread(told, make) == expected

    run(main())


def test_any_object_is_made_without_a_schema_and_a_grammar_that_is_nested_deeply_too(
    tokenizer: Any,
) -> None:
    levels: dict[str, Any] = {"n0": {"type": "integer"}}
    for n in range(1, 400):
        levels[f"n{n}"] = {"type": "array", "items": {"$ref": f"#/$defs/n{n - 1}"}, "minItems": 1}

    async def main() -> None:
        async with opened(tokenizer) as grammars:
            make = await grammars.maker("a", form(None))
            text = tokenizer.decode(await asyncio.to_thread(written, make, 3, 60))
            assert isinstance(json.loads(text), dict)
            make = await grammars.maker("a", form({"$ref": "#/$defs/n399", "$defs": levels}))
            assert len(await asyncio.to_thread(written, make, 0, 40)) == 40

    run(main())


def test_a_short_schema_that_no_grammar_is_made_of_needs_no_process(tokenizer: Any) -> None:
    async def main() -> None:
        async with opened(tokenizer) as grammars:
            for schema in ({"multipleOf": 99999989}, {"minProperties": 3}):
                with pytest.raises(GrammarInvalid):
                    await grammars.maker("a", form(schema))
            assert grammars.process.pid is None

    run(main())


@pytest.mark.parametrize("name", COSTLY)
def test_a_schema_that_costs_too_much_is_refused_and_its_process_ended(
    tokenizer: Any, name: str
) -> None:
    async def main() -> None:
        async with opened(tokenizer) as grammars:
            with pytest.raises(GrammarInvalid, match="more time or memory"):
                await grammars.maker("a", form(COSTLY[name]))
            await gone(grammars)
            # The outcome is remembered: nothing is compiled again.
            with pytest.raises(GrammarInvalid, match="more time or memory"):
                await grammars.maker("a", form(COSTLY[name]))
            assert not descendants(grammars)

    run(main())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what they limit")
def test_memory_ends_a_schema_before_its_time_does(tokenizer: Any) -> None:
    async def main() -> None:
        limits = replace(PATIENT, memory=8 << 20, compile_cpu=60.0)
        async with opened(tokenizer, limits) as grammars:
            with pytest.raises(GrammarInvalid, match="more time or memory"):
                await grammars.maker("a", form(COSTLY["choices of multiples"]))
            await gone(grammars)

    run(main())


def test_a_machine_without_time_is_told_and_not_remembered(tokenizer: Any) -> None:
    async def main() -> None:
        # Time is what ends it, on machines that fill memory within it as well.
        limits = replace(PATIENT, compile_seconds=0.1, compile_cpu=60.0, memory=4 << 30)
        async with opened(tokenizer, limits) as grammars:
            for _ in range(2):
                with pytest.raises(Overloaded):
                    await grammars.maker("a", form(COSTLY["choices of multiples"]))
                await gone(grammars)

    run(main())


def test_a_compilation_goes_on_for_the_request_that_comes_again(tokenizer: Any) -> None:
    async def main() -> None:
        async with opened(tokenizer, replace(PATIENT, seconds=0.02)) as grammars:
            with pytest.raises(Overloaded):
                await grammars.maker("a", form(COSTLY["many names"]))
            await some(grammars)
            await gone(grammars)
            with pytest.raises(GrammarInvalid, match="more time or memory"):
                await grammars.maker("a", form(COSTLY["many names"]))

    run(main())


def test_what_a_reply_costs_later_ends_its_grammar_and_no_other_one(tokenizer: Any) -> None:
    async def main() -> None:
        limits = replace(PATIENT, reply_cpu=0.2, token_cpu=0.0)
        async with opened(tokenizer, limits) as grammars:
            other = await grammars.maker("a", form({"type": "boolean"}))
            make = await grammars.maker("a", form({"type": "string"}))
            with other() as beside, make() as constraint:
                with pytest.raises(GrammarInvalid, match="more time or memory"):
                    await asyncio.to_thread(spent, constraint)
                assert np.flatnonzero(beside.allowed(9)).size
            await gone(grammars)

    run(main())


def spent(constraint: Any) -> None:
    for _ in range(200_000):
        constraint.allowed(1_000)


def test_a_request_that_leaves_does_not_leave_its_schema_running(tokenizer: Any) -> None:
    async def main() -> None:
        async with opened(tokenizer) as grammars:
            await grammars.maker("a", form(None))
            await gone(grammars)
            asked = asyncio.ensure_future(grammars.maker("a", form(COSTLY["many multiples"])))
            await some(grammars)
            asked.cancel()
            # The principal's place is taken until nothing of it runs any more.
            await grammars.maker("a", form({"type": "boolean"}))
            await gone(grammars)

    run(main())


def test_the_process_is_started_again_when_it_was_ended(tokenizer: Any) -> None:
    async def main() -> None:
        async with opened(tokenizer) as grammars:
            make = await grammars.maker("a", form({"const": 1}))
            pid = grammars.process.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await until(lambda: not grammars.process.running)
            make = await grammars.maker("a", form({"const": 2}))
            assert tokenizer.decode(await asyncio.to_thread(written, make, 0, 9)) == "2"

    run(main())


def test_closing_ends_every_process_at_once(tokenizer: Any) -> None:
    async def main() -> None:
        async with opened(tokenizer) as grammars:
            await grammars.maker("a", form(None))
            await gone(grammars)
            asked = asyncio.ensure_future(grammars.maker("a", form(COSTLY["many multiples"])))
            await some(grammars)
            pid = grammars.process.pid
            assert pid is not None
            grammars.close()
            assert not runs(pid)
            with pytest.raises(asyncio.CancelledError):
                await asked
            with pytest.raises(ShuttingDown):
                await grammars.maker("a", form(None))

    run(main())


def test_a_tokenizer_that_the_library_cannot_read_is_told(tokenizer: Any) -> None:
    async def main() -> None:
        grammars = Grammars(Words("{}", ROWS, EOS), PATIENT)
        with pytest.raises(GrammarInvalid, match="tokenizer"):
            await grammars.maker("a", form(None))
        grammars.close()

    run(main())


@pytest.mark.parametrize(
    ("program", "told"),
    [(sys.executable, GrammarInvalid), ("false", Overloaded)],
    ids=["a tokenizer that cannot be read", "a program that ends"],
)
def test_a_start_in_vain_is_not_tried_by_everybody_who_waits(
    program: str, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    starts: list[list[str]] = []
    whole = subprocess.Popen

    def started(command: list[str], **options: Any) -> Any:
        starts.append(command)
        return whole([program, *command[1:]], **options)

    monkeypatch.setattr(subprocess, "Popen", started)
    one = GrammarProcess(Words("{}", ROWS, EOS), PATIENT, lambda: now[0])
    for _ in range(3):
        with pytest.raises(told):
            one.start()
    assert len(starts) == 1
    now[0] += 3.0
    with pytest.raises(told):
        one.start()
    assert len(starts) == (1 if told is GrammarInvalid else 2)
    one.close()


def runs(pid: int) -> bool:
    return psutil.pid_exists(pid)


def descendants(grammars: Grammars) -> list[int]:
    pid = grammars.process.pid
    if pid is None:
        return []
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


async def gone(grammars: Grammars) -> None:
    """Wait until no copy runs."""
    await until(lambda: not descendants(grammars))


async def some(grammars: Grammars) -> None:
    """Wait until a copy runs."""
    await until(lambda: bool(descendants(grammars)))


async def until(true: Any) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)
