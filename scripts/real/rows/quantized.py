"""What ``--quantize int8`` costs on English: perplexity, likeliest tokens, KL."""

from __future__ import annotations

import torch

from scripts.real.figures import Figure, Figures, require
from scripts.real.measures.likelihood import NOTHING, Likeness, likeness
from scripts.real.models.ours import Middle
from scripts.real.models.stock import states, stock
from scripts.real.setting import Setting, forget, say
from scripts.real.texts.prose import windows

_KINDS = {
    "float32": ("float32", "none"),
    "bfloat16": ("bfloat16", "none"),
    "int8": ("bfloat16", "int8"),
}
_BEFORE = "least cosine of a hidden state 0.99868 ([random weights](benchmarks.md#one-decode-step))"


def measure(setting: Setting) -> Figures:
    """Every kind along the same windows of text."""
    text = windows(setting.tokenizer)
    found = {kind: _states(setting, kind, text) for kind in _KINDS}
    _check(setting, text[0], found["float32"][0])
    apart = {
        (base, kind): _likeness(setting, text, found[base], found[kind])
        for base, kind in (
            ("float32", "float32"),
            ("float32", "bfloat16"),
            ("float32", "int8"),
            ("bfloat16", "int8"),
        )
    }
    perplexity = {kind: apart["float32", kind].perplexity for kind in _KINDS}
    tokens = apart["float32", "int8"].positions
    ratio = perplexity["int8"] / perplexity["bfloat16"]
    return Figures(
        "the states of the float32 engine are Hugging Face's",
        (
            Figure(
                f"perplexity of {tokens:,} tokens: float32, bfloat16, int8",
                ", ".join(f"{perplexity[kind]:.2f}" for kind in _KINDS),
            ),
            Figure("perplexity of int8 over bfloat16's", f"{ratio:.4f}x"),
            Figure("bfloat16 from float32", _words(apart["float32", "bfloat16"])),
            Figure("int8 from float32", _words(apart["float32", "int8"]), _BEFORE),
            Figure("int8 from bfloat16", _words(apart["bfloat16", "int8"])),
        ),
    )


def _states(setting: Setting, kind: str, text: list[list[int]]) -> list[torch.Tensor]:
    forget()
    middle = Middle(setting.folder, *_KINDS[kind])
    say(f"{kind}: {middle.linears}")
    return [middle.states(setting.rows(ids)) for ids in text]


def _check(setting: Setting, ids: list[int], found: torch.Tensor) -> None:
    expected = states(stock(setting.folder), ids)
    apart = float((found - expected).abs().max() / expected.abs().max())
    require(apart < 1e-3, f"states of the engine differ by {apart:.1e} of the largest value")


def _likeness(
    setting: Setting, text: list[list[int]], base: list[torch.Tensor], other: list[torch.Tensor]
) -> Likeness:
    return sum(
        (
            likeness(a[:-1], b[:-1], setting.table, ids[1:])
            for ids, a, b in zip(text, base, other, strict=True)
        ),
        NOTHING,
    )


def _words(found: Likeness) -> str:
    return f"same likeliest token {found.share:.1%}, KL {found.mean_kl:.2g}"
