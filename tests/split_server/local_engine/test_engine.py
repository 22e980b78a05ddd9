"""The engine in this process: tokens, reuse, errors, and what closing leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from split_client.errors import PromptEmpty
from split_server.errors import CheckpointNotFound
from split_server.local_engine import Engine, EngineClosed, PromptInvalid
from split_settings.errors import SettingsError
from split_wire.errors import SplitError
from tests import oracle
from tests.patience import PATIENCE, until

COUNT = 8
PROMPT = [11 + index % 60 for index in range(120)]


@pytest.fixture
def engine(tiny_path: Path) -> Iterator[Engine]:
    with Engine.load(tiny_path, dtype="float32", device="cpu", threads=1) as engine:
        yield engine


def test_greedy_tokens_equal_generate(engine: Engine, tiny_path: Path) -> None:
    result = engine.generate(PROMPT, COUNT)
    assert list(result.token_ids) == oracle.greedy(tiny_path, PROMPT, COUNT)
    assert 0 < result.ttft_ms <= result.total_ms
    assert (result.prompt_tokens, result.kv_reuse_ratio) == (len(PROMPT), 0)


def test_a_batch_gives_what_single_prompts_give(engine: Engine, tiny_path: Path) -> None:
    prompts = [PROMPT, PROMPT[3:40], [*PROMPT[:50], 5, 6]]
    results = engine.generate_batch(prompts, COUNT)
    for prompt, result in zip(prompts, results, strict=True):
        assert list(result.token_ids) == oracle.greedy(tiny_path, prompt, COUNT)


def test_the_same_prompt_again_is_not_computed_and_gives_the_same(engine: Engine) -> None:
    first, second = engine.generate(PROMPT, COUNT), engine.generate(PROMPT, COUNT)
    assert second.kv_reuse_ratio > 0.9
    assert (second.token_ids, second.text) == (first.token_ids, first.text)


def test_what_was_warmed_is_not_computed_by_the_first_call(engine: Engine) -> None:
    assert engine.warm(PROMPT) == len(PROMPT)
    assert engine.generate([*PROMPT, 7, 8, 9], COUNT).kv_reuse_ratio > 0.9


def test_a_text_is_tokenized_as_the_model_does(engine: Engine, tiny_path: Path) -> None:
    text = "the quick brown fox"
    ids = oracle.tokenizer(tiny_path)(text)["input_ids"]
    result = engine.generate(text, COUNT)
    assert result.prompt_tokens == len(ids)
    assert list(result.token_ids) == oracle.greedy(tiny_path, ids, COUNT)


def test_messages_are_written_by_the_template_of_the_model() -> None:
    with Engine.load() as engine:
        result = engine.generate([{"role": "user", "content": "Hello"}], COUNT)
    assert result.text
    assert result.finish_reason in ("eos", "length")


def test_bad_input_has_a_typed_error_and_the_engine_goes_on(engine: Engine) -> None:
    with pytest.raises(PromptInvalid):
        engine.generate([{"content": "no role"}], COUNT)
    with pytest.raises(PromptEmpty):
        engine.generate([], COUNT)
    assert engine.generate(PROMPT, 1).token_ids


def test_a_wrong_path_or_option_has_a_typed_error(tiny_path: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFound):
        Engine.load(tmp_path / "nothing")
    with pytest.raises(SettingsError):
        Engine.load(tiny_path, dtype="float7")
    with pytest.raises(SettingsError):
        Engine.load(tiny_path, no_such_option=1)


def test_closing_ends_its_threads_and_later_calls_are_refused(tiny_path: Path) -> None:
    before = set(threading.enumerate())
    engine = Engine.load(tiny_path, dtype="float32", device="cpu", threads=1)
    engine.generate("some text", 2)
    own = set(threading.enumerate()) - before
    engine.close()
    engine.close()
    for thread in own:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in own)
    with pytest.raises(EngineClosed):
        engine.generate(PROMPT, 1)


def test_what_is_on_disk_is_not_computed_by_the_next_process(
    tiny_path: Path, tmp_path: Path
) -> None:
    folders = {"kv_disk": tmp_path / "kv", "state": tmp_path / "state"}
    options: dict[str, Any] = {"dtype": "float32", "device": "cpu", "threads": 1, "kv_audit": 0.0}
    with Engine.load(tiny_path, **options, **folders) as engine:
        first = engine.generate(PROMPT, COUNT)
    assert list((tmp_path / "kv").glob("*.kv"))
    with Engine.load(tiny_path, **options, **folders) as engine:
        until(lambda: engine.generate(PROMPT, COUNT).reused_tokens > 0)
        again = engine.generate([*PROMPT[:100], 7], COUNT)
        assert engine.verify()["ok"]
    assert list(first.token_ids) == oracle.greedy(tiny_path, PROMPT, COUNT)
    assert list(again.token_ids) == oracle.greedy(tiny_path, [*PROMPT[:100], 7], COUNT)


def test_what_is_kept_gives_what_computing_gives(tiny_path: Path) -> None:
    with Engine.load(tiny_path, dtype="float32", device="cpu", threads=1) as engine:
        found = engine.verify()
        assert (found["ok"], found["problems"]) == (True, [])
        assert {way["way"] for prompt in found["prompts"] for way in prompt["ways"]} == {
            "warm",
            "parked",
        }


def test_a_check_where_nothing_is_kept_is_not_passed(tiny_path: Path) -> None:
    with Engine.load(tiny_path, dtype="float32", device="cpu", kv_reuse="off") as engine:
        assert not engine.verify()["ok"]
        assert engine.generate(PROMPT, 1).kv_reuse_ratio == 0


def test_threads_that_call_at_once_get_their_own_replies(engine: Engine, tiny_path: Path) -> None:
    prompts = [[*PROMPT[: 60 + 7 * number], 3 + number] for number in range(6)]

    def called(number: int) -> Any:
        # A check runs beside the replies and changes none of them.
        return engine.verify() if number == 6 else engine.generate(prompts[number], COUNT)

    with ThreadPoolExecutor(7) as threads:
        *results, found = threads.map(called, range(7))
    assert found["ok"]
    for prompt, result in zip(prompts, results, strict=True):
        assert list(result.token_ids) == oracle.greedy(tiny_path, prompt, COUNT)


def test_closing_while_others_call_answers_or_refuses_each(tiny_path: Path) -> None:
    engine = Engine.load(tiny_path, dtype="float32", device="cpu", threads=1)
    begun = threading.Barrier(4)

    def called(number: int) -> str:
        begun.wait(PATIENCE)
        try:
            return engine.generate([*PROMPT, number], 40, ignore_eos=True).finish_reason
        except (EngineClosed, SplitError) as error:
            return error.code

    with ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(called, number) for number in range(3)]
        begun.wait(PATIENCE)
        engine.close()
        told = {answer.result(PATIENCE) for answer in answers}
    assert told <= {"length", "engine_closed", "shutting_down", "cancelled"}
