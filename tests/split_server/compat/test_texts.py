"""Tokenizer and template for several requests at a time."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from tokenizers import Tokenizer

from split_client.errors import PromptTooLong, TemplateTooCostly, TextTooCostly
from split_client.model.tokenizer import ModelTokenizer
from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import EMBEDDED, read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.compat.ends import LocalEnds
from split_server.compat.text_process import TextProcess
from split_server.compat.texts import Texts
from split_wire.errors import ShuttingDown, SplitError
from tests.engines import run
from tests.split_server.compat.full_process import TEXTS

WHO = "somebody"
TEXT = "What is split inference?"


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEnds]:
    checkpoint = read_checkpoint(EMBEDDED, "embedded")
    catalog = build_catalog(checkpoint)
    ends = LocalEnds.open(catalog, build_manifest(checkpoint, catalog), ModelStore())
    yield ends
    ends.close()


def test_texts_become_ids_and_texts_again(local: LocalEnds) -> None:
    async def main() -> str:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        ids = await texts.encode(WHO, TEXT)
        assert ids == local.ends.tokenizer.encode(TEXT)
        decoded = await texts.decode(WHO, ids)
        texts.close()
        return decoded

    assert run(main()) == TEXT


def test_a_long_text_has_the_ids_of_its_parts(local: LocalEnds) -> None:
    """Both ways through the library agree: at a control token nothing merges."""
    part = f"{TEXT * 500}<|im_end|>"
    ids = local.ends.tokenizer.encode(part * 3)
    assert len(part) > 8192
    assert ids == 3 * local.ends.tokenizer.encode(part)
    short = f"{TEXT}<|im_end|>"
    assert local.ends.tokenizer.encode(short * 400) == 400 * local.ends.tokenizer.encode(short)


def test_a_short_text_does_not_wait_for_a_slow_template_or_a_long_text(local: LocalEnds) -> None:
    async def main() -> None:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        gate: Future[None] = Future()
        slow = (texts._long, texts._rendering)
        held = [asyncio.create_task(threads.run(gate.result)) for threads in slow]
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(20):
                assert await texts.encode(WHO, TEXT) == local.ends.tokenizer.encode(TEXT)
        finally:
            gate.set_result(None)
        await asyncio.wait_for(asyncio.gather(*held), 20)
        texts.close()

    run(main())


def test_messages_become_the_models_prompt(local: LocalEnds) -> None:
    messages = [{"role": "user", "content": TEXT}]

    async def main() -> list[str]:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        prompts = await asyncio.gather(*(texts.render(WHO, messages) for _ in range(4)))
        texts.close()
        return prompts

    expected = local.ends.template().render(messages)
    assert run(main()) == [expected] * 4


def test_what_is_rendered_as_all_ends_is_told_so_and_not_that_the_template_is_at_fault(
    local: LocalEnds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model is let go while a request's template is at work, whose process ends with it."""

    async def main() -> type[Exception]:
        texts = Texts(local.ends, TextProcess(local.tokenizer))

        def ended(*_: object, **__: object) -> str:
            texts.close()
            raise TemplateTooCostly("its process ended by itself")

        monkeypatch.setattr(local.ends.template(), "render", ended)
        with pytest.raises(SplitError) as told:
            await texts.render(WHO, [{"role": "user", "content": TEXT}])
        return told.type

    assert run(main()) is ShuttingDown


LONG = "Long texts, and longer ones. 東京 「é」 e\u0301\n" * 3000


def opened(local: LocalEnds) -> Texts:
    return Texts(local.ends, TextProcess(local.tokenizer))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("text", [LONG, "a" * 40_000, LONG + "b" * 40_000 + LONG])
def test_a_long_text_in_pieces_has_the_ids_of_the_whole(
    local: LocalEnds, text: str, special: bool
) -> None:
    async def main() -> list[int]:
        texts = opened(local)
        ids = await texts.encode(WHO, text, special=special)
        texts.close()
        return ids

    expected = Tokenizer.from_file(str(local.tokenizer)).encode(text, add_special_tokens=special)
    assert run(main()) == expected.ids


def test_a_prompt_is_tokenized_no_further_than_the_context(
    local: LocalEnds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not at all where no tokens could be few enough."""
    seen: list[int] = []
    encode = ModelTokenizer.encode

    def counted(self: ModelTokenizer, text: str, **options: bool) -> list[int]:
        seen.append(len(text))
        return encode(self, text, **options)

    monkeypatch.setattr(ModelTokenizer, "encode", counted)

    async def main() -> None:
        texts = opened(local)
        for text, limit in ((LONG, 4096), (LONG * 40, 4096)):
            with pytest.raises(PromptTooLong, match="at least"):
                await texts.prompt(WHO, text, limit)
        texts.close()

    run(main())
    assert 0 < sum(seen) <= 4 * 8192


def test_a_text_that_cannot_be_cut_is_refused_beyond_what_its_process_takes(
    local: LocalEnds,
) -> None:
    async def main() -> None:
        texts = opened(local)
        with pytest.raises(TextTooCostly):
            await texts.encode(WHO, "a" * 4_000_000)
        assert await texts.encode(WHO, TEXT) == local.ends.tokenizer.encode(TEXT)
        texts.close()

    run(main())


def test_another_principals_long_text_waits_for_one_piece(local: LocalEnds) -> None:
    async def main() -> list[str]:
        texts, order = opened(local), list[str]()

        async def told(principal: str, text: str) -> None:
            await texts.encode(principal, text)
            order.append(principal)

        loud = [asyncio.create_task(told("loud", LONG)) for _ in range(6)]
        await asyncio.sleep(0)
        await told("quiet", LONG[:20_000])
        await asyncio.gather(*loud)
        texts.close()
        return order

    assert run(main())[0] == "quiet"


def test_many_ids_become_text_in_the_process_too(local: LocalEnds) -> None:
    async def main() -> str:
        texts = opened(local)
        text = await texts.decode(WHO, await texts.encode(WHO, LONG))
        texts.close()
        return text

    assert run(main()) == unicodedata.normalize("NFC", LONG)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_four_megabytes_do_not_end_a_process_whose_memory_is_full(local: LocalEnds) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.split_server.compat.full_process", local.tokenizer],
        stdout=subprocess.PIPE,
        check=False,
    )
    assert ended.returncode == 0
    answers = json.loads(ended.stdout)
    assert set(answers) == set(TEXTS)
    tokenizer = Tokenizer.from_file(str(local.tokenizer))
    for name, (prompt, count) in answers.items():
        assert prompt in ("prompt_too_long", "text_too_costly")
        counted = len(tokenizer.encode(TEXTS[name][:200_000]).ids)
        assert count in (str(counted), "text_too_costly")
    assert answers["words"] == ["prompt_too_long", "83333"]
