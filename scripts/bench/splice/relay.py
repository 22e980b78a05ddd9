"""A model made by hand that carries values along assignments, and what an edit does to it.

Each token is a statement: ``v = x``, ``v := u`` or a question for ``v``. One layer hands a value on
by one assignment: the query of a statement looks for the statement that defines what it uses, and
copies its value. So a value that goes through n assignments is known n layers later, and rows that
were computed before an edit have the old one for good: nothing but computing them again mends them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LAYERS = 5
VARIABLES, VALUES, FILLERS = 7, 6, 20
# Beside the variables: what statements use that use nothing, and define that define nothing.
_NOTHING, _NOBODY = VARIABLES, VARIABLES + 1
_NAMES = VARIABLES + 2
_HIDDEN = 64
# Pairs of a head from here on turn by less than a ten-billionth of a radian a position.
_STILL, _THETA = 16, 1e20
_FIRM = 100.0
_BEGIN, _FIRST = 0, 1


@dataclass(frozen=True, slots=True)
class Statement:
    """``defines`` and ``uses``: names; ``value``: where it says one."""

    defines: int
    uses: int
    value: int | None = None


def statements() -> list[Statement]:
    """By token id."""
    begin = [Statement(_NOTHING, _NOTHING)]
    said = [Statement(v, _NOTHING, x) for v in range(VARIABLES) for x in range(VALUES)]
    copied = [Statement(v, u) for v in range(VARIABLES) for u in range(VARIABLES)]
    asked = [Statement(_NOBODY, v) for v in range(VARIABLES)]
    fillers = [Statement(_NOBODY, _NOTHING)] * FILLERS
    answers = [Statement(_NOBODY, _NOTHING)] * VALUES
    return [*begin, *said, *copied, *asked, *fillers, *answers]


def said(variable: int, value: int) -> int:
    """The token of ``variable = value``."""
    return _FIRST + variable * VALUES + value


def copied(variable: int, source: int) -> int:
    """The token of ``variable := source``."""
    return _FIRST + VARIABLES * VALUES + variable * VARIABLES + source


def hands_on(token: int) -> bool:
    """Whether ``token`` is an assignment of one variable to another."""
    return copied(0, 0) <= token < asked(0)


def asked(variable: int) -> int:
    """The token of the question for ``variable``."""
    return _FIRST + VARIABLES * VALUES + VARIABLES**2 + variable


def filler(number: int) -> int:
    """A token that says nothing."""
    return asked(VARIABLES - 1) + 1 + number % FILLERS


def answer(value: int) -> int:
    """The token of a value as a reply."""
    return filler(FILLERS - 1) + 1 + value


def relayed(depth: int, value: int, length: int, seed: int) -> list[int]:
    """A text of ``length`` tokens: ``value`` is said near the beginning, handed on ``depth`` times
    in between, and asked for at the end.
    """
    draw = random.Random(seed)
    names = draw.sample(range(VARIABLES), depth + 1)
    text = [filler(draw.randrange(FILLERS)) for _ in range(length)]
    text[0], text[8], text[-1] = _BEGIN, said(names[0], value), asked(names[-1])
    # Neither among the first rows behind the edit, nor among the last ones.
    places = sorted(draw.sample(range(32, length - 32), depth))
    for place, source, name in zip(places, names[:-1], names[1:], strict=True):
        text[place] = copied(name, source)
    return text


def write_checkpoint(path: Path, tokenizer: PreTrainedTokenizerFast) -> Path:
    """The model in ``path``, beside a tokenizer that has more tokens than it has statements."""
    tokenizer.save_pretrained(path)
    count = len(tokenizer) + 5
    config = LlamaConfig(
        vocab_size=count,
        hidden_size=_HIDDEN,
        intermediate_size=8,
        num_hidden_layers=LAYERS,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=1024,
        rope_parameters={"rope_type": "default", "rope_theta": _THETA},
        tie_word_embeddings=False,
        bos_token_id=0,
        # None of the statements.
        eos_token_id=count - 1,
        pad_token_id=0,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        _fill(model, count)
    model.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=[count - 1])
    model.save_pretrained(path)
    return path


def _fill(model: LlamaForCausalLM, count: int) -> None:
    """Of the hidden values the first are what a statement defines, then what it uses, its value,
    and one that all have.
    """
    uses, value = _NAMES, 2 * _NAMES
    for name, parameter in model.named_parameters():
        parameter.fill_(1.0 if "norm" in name else 0.0)
    table = model.model.embed_tokens.weight
    for token, statement in enumerate(statements()):
        table[token, statement.defines] = 1.0
        table[token, uses + statement.uses] = 1.0
        if statement.value is not None:
            table[token, value + statement.value] = 1.0
    table[:, -1] = 1.0
    for layer in model.model.layers:
        attention = layer.self_attn
        for name in range(_NAMES):
            attention.q_proj.weight[_STILL + name, uses + name] = _FIRM
            attention.k_proj.weight[_STILL + name, name] = 1.0
        for x in range(VALUES):
            attention.v_proj.weight[x, value + x] = 1.0
            attention.o_proj.weight[value + x, x] = 1.0
    for x in range(VALUES):
        model.lm_head.weight[answer(x), value + x] = _FIRM
    model.lm_head.weight[count - 1, -1] = -_FIRM


def right(replies: Sequence[int], values: Sequence[int]) -> float:
    """The share of ``replies`` that are the ``values``."""
    same = sum(reply == answer(value) for reply, value in zip(replies, values, strict=True))
    return same / len(values)
