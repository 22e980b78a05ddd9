"""A trained model's texts: template and ids as transformers makes them, ids as llama.cpp does.

``tests/vectors/token_ids.json`` holds what llama.cpp makes of 10,000 lines with the model's own
GGUF file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.real.chats import Chat, chats
from scripts.vectors.tokens.ids import digest, written
from scripts.vectors.tokens.lines import BLOCKS, block
from scripts.vectors.tokens.run import PATH
from split_client.chat.conversation import Conversation, Message
from split_client.generation.detokenizer import Detokenizer
from split_client.model.tokenizer import ModelTokenizer
from split_client.template.template import ChatTemplate
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.texts import special_tokens
from tests import oracle
from tests.real_model.talking import templated

_CHATS = 200
_REPLIES = 300
_FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
_PARTS = (
    *("What is", " 12 + 30", "?", "\n\n1.", "   7", " caf\u00e9", "'s", "\t", "\r\n", "  \n", " "),
    *(
        "\u6771\u4eac\u306f",
        "\u4f60\u597d\uff0c",
        "\ud55c\uad6d",
        "\u0645\u0631\u062d\u0628\u0627",
        "e\u0301",
    ),
    *("\U0001f600", _FAMILY, "\u2764\ufe0f", "def f(x):\n    ", "{{ 7 }}", "{% raw %}", "\x00"),
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_end|>\n<|im_start|>system\n"),
)
VECTORS: dict[str, Any] = json.loads(PATH.read_text("ascii"))


@pytest.fixture(scope="module")
def tokenizer(real_path: Path) -> Iterator[ModelTokenizer]:
    opened = ModelTokenizer.open(real_path / "tokenizer.json", 49_152)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def template(real_path: Path) -> Iterator[ChatTemplate]:
    checkpoint = read_checkpoint(real_path, real_path.name)
    source = (real_path / "chat_template.jinja").read_text("utf-8")
    opened = ChatTemplate(source, special_tokens(checkpoint))
    yield opened
    opened.close()


def _drawn_chats() -> list[Chat]:
    """Of parts that templates and tokenizers trip over; without a system message, with an empty
    one, and with one of the same parts."""
    draw = random.Random(5)  # noqa: S311 - a test

    def text() -> str:
        return "".join(draw.choices(_PARTS, k=draw.randint(1, 8)))

    drawn: list[Chat] = []
    for number in range(_CHATS - 60):
        system = [[], [""], [text()]][number % 3]
        said = [{"role": "system", "content": one} for one in system]
        for _ in range(draw.randint(0, 2)):
            said += [{"role": "user", "content": text()}, {"role": "assistant", "content": text()}]
        drawn.append([*said, {"role": "user", "content": text()}])
    return [*chats(), *drawn]


def test_prompts_of_two_hundred_chats_are_those_of_transformers(
    real_path: Path, tokenizer: ModelTokenizer, template: ChatTemplate
) -> None:
    drawn = _drawn_chats()
    assert len(drawn) == _CHATS
    render, decode = oracle.tokenizer(real_path).apply_chat_template, oracle.tokenizer(real_path)
    for chat in drawn:
        conversation = Conversation(template, tokenizer)
        conversation.replace(Message(**message) for message in chat)
        prompt = conversation.prompt()
        assert prompt.text == render(chat, add_generation_prompt=True, tokenize=False)
        assert prompt.ids == templated(real_path, chat), chat
        assert _streamed(tokenizer, prompt.ids) == decode.decode(
            prompt.ids, skip_special_tokens=True
        )


def test_replies_of_any_tokens_are_read_as_transformers_reads_them(
    real_path: Path, tokenizer: ModelTokenizer
) -> None:
    """Single bytes and halves of characters among them."""
    draw = random.Random(6)  # noqa: S311 - a test
    for _ in range(_REPLIES):
        ids = [draw.randrange(draw.choice((300, 49_152))) for _ in range(draw.randint(1, 30))]
        assert tokenizer.decode(ids) == oracle.tokenizer(real_path).decode(
            ids, skip_special_tokens=True
        )


def test_token_ids_are_those_of_llama_cpp(tokenizer: ModelTokenizer) -> None:
    whole = VECTORS["lines"]
    lines = [line for number in range(len(whole) // 100) for line in block(number)]
    assert len(lines) == len(whole) == 300
    for line, ids in zip(lines, whole, strict=True):
        assert written(tokenizer.encode(line)) == ids, line


def test_ten_thousand_lines_have_the_digests_of_llama_cpps_ids(tokenizer: ModelTokenizer) -> None:
    made = [digest(map(tokenizer.encode, block(number))) for number in range(BLOCKS)]
    different = [number for number, one in enumerate(VECTORS["blocks"]) if made[number] != one]
    assert not different
    assert len(made) * len(block(0)) == 10_000


def _streamed(tokenizer: ModelTokenizer, ids: list[int]) -> str:
    """The text as a reply shows it, token by token."""
    pieces = Detokenizer(tokenizer)
    return "".join([pieces.push(token) for token in ids]) + pieces.flush()
