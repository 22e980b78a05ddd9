"""Checks of schemas: who is next, how many wait, and what is remembered."""

from __future__ import annotations

import asyncio

import pytest

from split_client.grammar.errors import GrammarInvalid
from split_server.compat.grammars.checks import GrammarChecks, Verdict
from split_server.compat.grammars.limits import GrammarLimits
from split_wire.errors import Overloaded
from tests.engines import run

LIMITS = GrammarLimits(at_once=2, waiting=6, waiting_per_principal=3, kept=2, seconds=30.0)


class Compiler:
    """Compiles when it is told to; ``begun``: the rules in their order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Future[Verdict]] = {}

    async def __call__(self, rules: str) -> Verdict:
        self.begun.append(rules)
        self._ends[rules] = asyncio.get_running_loop().create_future()
        return await self._ends[rules]

    def end(self, rules: str, verdict: Verdict = None) -> None:
        self._ends[rules].set_result(verdict)


def asked(checks: GrammarChecks, principal: str, *rules: str) -> list[asyncio.Future[None]]:
    return [asyncio.ensure_future(checks.check(principal, one)) for one in rules]


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_principal_has_one_place_and_the_others_the_rest_by_turns() -> None:
    async def main() -> list[str]:
        compiler = Compiler()
        checks = GrammarChecks(compiler, LIMITS)
        waits = asked(checks, "a", "a1", "a2", "a3")
        await settle()
        assert compiler.begun == ["a1"]
        waits += asked(checks, "b", "b1", "b2") + asked(checks, "c", "c1")
        await settle()
        assert compiler.begun == ["a1", "b1"]
        for rules in ("b1", "a1", "c1", "b2", "a2", "a3"):
            compiler.end(rules)
            await settle()
        await asyncio.gather(*waits)
        return compiler.begun

    assert run(main()) == ["a1", "b1", "c1", "b2", "a2", "a3"]


def test_too_many_that_wait_are_refused_of_one_principal_and_of_all() -> None:
    async def main() -> None:
        checks = GrammarChecks(Compiler(), LIMITS)
        waits = asked(checks, "a", "a1", "a2", "a3", "a4")
        await settle()
        with pytest.raises(Overloaded):
            await checks.check("a", "a5")
        waits += asked(checks, "b", "b1", "b2", "b3", "b4")
        await settle()
        with pytest.raises(Overloaded):
            await checks.check("c", "c1")
        for wait in waits:
            wait.cancel()
        checks.close()
        await settle()

    run(main())


def test_one_schema_of_a_principal_is_compiled_once_and_its_outcome_remembered() -> None:
    async def main() -> None:
        compiler = Compiler()
        checks = GrammarChecks(compiler, LIMITS)
        waits = asked(checks, "a", "x", "x", "x")
        await settle()
        compiler.end("x", ("invalid_schema", "no"))
        for wait in waits:
            with pytest.raises(GrammarInvalid, match="no"):
                await wait
        with pytest.raises(GrammarInvalid, match="no"):
            await checks.check("a", "x")
        assert compiler.begun == ["x"]
        # Another principal does not learn that somebody has used it.
        (other,) = asked(checks, "b", "x")
        await settle()
        compiler.end("x")
        await other
        assert compiler.begun == ["x", "x"]

    run(main())


def test_the_outcome_that_was_not_used_for_longest_is_forgotten() -> None:
    async def main() -> list[str]:
        compiler = Compiler()
        checks = GrammarChecks(compiler, LIMITS)
        for rules in ("1", "2", "1", "3", "1", "2"):
            (wait,) = asked(checks, "a", rules)
            await settle()
            if not wait.done():
                compiler.end(rules)
            await wait
        return compiler.begun

    assert run(main()) == ["1", "2", "3", "2"]


def test_whoever_leaves_the_queue_is_not_compiled_and_what_began_keeps_its_place() -> None:
    async def main() -> list[str]:
        compiler = Compiler()
        checks = GrammarChecks(compiler, LIMITS)
        first, second = asked(checks, "a", "a1", "a2")
        await settle()
        first.cancel()
        second.cancel()
        (third,) = asked(checks, "a", "a3")
        await settle()
        assert compiler.begun == ["a1"]
        compiler.end("a1")
        await settle()
        compiler.end("a3")
        await third
        return compiler.begun

    assert run(main()) == ["a1", "a3"]


def test_a_wait_that_is_too_long_is_told() -> None:
    async def main() -> None:
        checks = GrammarChecks(Compiler(), GrammarLimits(seconds=0.0))
        with pytest.raises(Overloaded):
            await checks.check("a", "x")
        checks.close()
        await settle()

    run(main())


def test_a_failure_is_told_and_not_remembered() -> None:
    async def main() -> int:
        tries = list[str]()

        async def failing(rules: str) -> Verdict:
            tries.append(rules)
            raise Overloaded("busy")

        checks = GrammarChecks(failing, LIMITS)
        for _ in range(2):
            with pytest.raises(Overloaded):
                await checks.check("a", "x")
        return len(tries)

    assert run(main()) == 2
