"""Compact JSON against that with spaces: tokens, steps that are left, what a model likes to write.

    python -m scripts.bench.forms.run [--folder MODEL]
    python -m scripts.bench.forms.run --texts FOLDER [--words 50000]

``--folder``: a checkpoint that transformers reads; without one the embedded model. ``--texts``: a
vocabulary of the size of large models is made of the Python, JSON and Markdown files there instead,
and no model is asked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from scripts.bench.forms.replies import Logits, Replied, reply
from scripts.bench.forms.texts import KINDS, value_of
from scripts.bench.forms.trained import trained
from scripts.bench.forms.walk import COMPACT, SPACED, Separators, walked
from scripts.bench.report import heading, table
from scripts.demo_model.embedded import EMBEDDED
from split_client.grammar.vocabulary import Vocabulary

_VALUES = 40
_REPLIES = 4
_WISH = "Write JSON like this about other people and places: "
_HEAD = ("texts", "separators", "tokens", "forced", "steps")


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    if options.texts is not None:
        tokenizer = trained(options.texts, options.words)
        vocabulary = Vocabulary(tokenizer.to_str(), tokenizer.get_vocab_size(), frozenset())
        print(heading(f"White space of JSON, {vocabulary.rows:,} tokens", "no model"))
        print(table(_HEAD, [_row(vocabulary, tokenizer, *case) for case in _cases()]))
        return
    source = (options.folder / "tokenizer.json").read_text("utf-8")
    tokenizer = Tokenizer.from_str(source)
    model = AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.float32)
    vocabulary = Vocabulary(source, model.config.vocab_size, frozenset(_ends(model)))
    logits = _logits_of(model)
    rows = [
        [*_row(vocabulary, tokenizer, *case), _own(vocabulary, tokenizer, logits, *case)]
        for case in _cases()
    ]
    print(heading(f"White space of JSON, {vocabulary.rows:,} tokens", "float32"))
    print(table((*_HEAD, "the model's own, of a reply"), rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--folder", type=Path, default=EMBEDDED, help="a checkpoint")
    parser.add_argument("--texts", type=Path, help="files that a vocabulary is made of")
    parser.add_argument("--words", type=int, default=50_000, help="how many tokens it has")
    return parser.parse_args()


def _cases() -> list[tuple[str, Separators]]:
    return [(kind, separators) for kind in KINDS for separators in (COMPACT, SPACED)]


def _row(vocabulary: Vocabulary, tokenizer: Any, kind: str, separators: Separators) -> list[object]:
    """Means of one value; a step is taken for every token that is not forced."""
    values = (value_of(kind, seed) for seed in range(_VALUES))
    counted = [
        walked(vocabulary, lambda text: _ids(tokenizer, text), KINDS[kind], value, separators)
        for value in values
    ]
    tokens = sum(one.tokens for one in counted)
    forced = sum(one.forced for one in counted)
    means = (tokens / _VALUES, (tokens - forced) / _VALUES)
    return [
        kind,
        json.dumps(separators),
        f"{means[0]:.1f}",
        f"{forced / tokens:.0%}",
        f"{means[1]:.1f}",
    ]


def _own(
    vocabulary: Vocabulary, tokenizer: Any, logits: Logits, kind: str, separators: Separators
) -> str:
    """The share of a greedy reply's tokens that were the likeliest without any grammar."""
    all_ = Replied()
    for seed in range(_REPLIES):
        example = json.dumps(value_of(kind, 100 + seed), separators=separators)
        prompt = _ids(tokenizer, f"{_WISH}{example}\n")
        one = reply(vocabulary, logits, prompt, KINDS[kind], separators)
        all_.tokens += one.tokens
        all_.own += one.own
    return f"{all_.own / all_.tokens:.0%}"


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def _ends(model: Any) -> list[int]:
    ends = model.generation_config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def _logits_of(model: Any) -> Logits:
    @torch.inference_mode()
    def logits(ids: list[int]) -> Any:
        return model(torch.tensor([ids])).logits[0, -1].numpy()

    return logits


if __name__ == "__main__":
    main()
