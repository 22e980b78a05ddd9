"""What whole numbers of 8 bits cost in quality, bytes and time, beside exact reuse.

On trained weights, in this process, with the server's model, cache and pool: each prompt is left
behind by one session and taken in by a second one; the rows behind the prefix, the distribution of
the next token and 64 greedy tokens are compared with those of a session that computes all of it.
Then, in the shape of a larger model, taking in against the prefill that it replaces.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import torch
from transformers import AutoTokenizer

from scripts.bench.report import finish, median, spread, table
from scripts.bench.reuse.hit import Hit, hits
from scripts.bench.reuse.pages import Page, parsed, parser, rounds
from scripts.bench.reuse.sources import Source
from scripts.bench.shapes import served_checkpoint
from scripts.real.chats import chats
from scripts.real.models.served import template_ids
from scripts.real.models.stock import stock
from scripts.real.texts.conversations import conversations
from split_server.kv.comparing import largest_difference
from split_server.sessions.session import Session
from split_wire.tiers import Tier

MODELS = ("smollm2", "embedded")
DTYPES = ("float32", "bfloat16")
TIERS: tuple[Literal["exact", "int8"], ...] = ("exact", "int8")
CONTROL: Literal["control"] = "control"
Kept: TypeAlias = Literal["exact", "int8", "control"]
_REPLY = 64
_MOST_BYTES = {"float32": 0.30, "bfloat16": 0.55}
_MOST_KL, _LEAST_EQUAL, _MOST_TIME = 1e-4, 0.99, 0.015
_QUICK = {"prompts": 2, "prompt": 256, "hits": 3, "models": ["embedded"]}


@dataclass(frozen=True, slots=True)
class Found:
    """Of one prompt: KL of the next token's distribution, greedy tokens that are equal, relative
    difference of the last state, largest one of a block of keys or values, and bytes that are kept
    for each position.
    """

    kl: float
    equal: int
    state: float
    block: float
    bytes: float


class Head:
    """Embeddings and logits of the model at ``path``."""

    def __init__(self, path: Path) -> None:
        model = stock(path)
        self.table: torch.Tensor = model.get_input_embeddings().weight.detach().clone()
        self._head: torch.Tensor = model.get_output_embeddings().weight.detach().clone()

    def logits(self, state: torch.Tensor) -> torch.Tensor:
        """Float64 [vocabulary] of a state [H]."""
        return (self._head @ state).double()


class Bench:
    """One model in one dtype."""

    def __init__(self, path: Path, dtype: str, head: Head, threads: int) -> None:
        self._source, self._head = Source(path, dtype, threads), head

    def close(self) -> None:
        """End its threads."""
        self._source.close()

    def one(self, ids: Sequence[int], kept: Kept) -> Found:
        """A prompt, computed and taken in as it was kept."""
        rows, source = self._head.table[list(ids)], self._source
        plain = _apart(source)
        state = source.computed(plain, rows)[-1]
        if kept == CONTROL:
            return self._sliced(rows, plain, state)
        tier, pool = kept, source.reuse.pool
        first, later = source.session(tier), source.session(tier)
        source.computed(first, rows[:-1])
        source.keep(first)
        size = pool.bytes_of(tier) / (len(ids) - 1)
        held = source.taken_in(later, rows)
        lineage = later.cache.lineage.tier
        if held < len(ids) - 17 or lineage != tier:
            raise SystemExit(f"{held} of {len(ids)} positions were taken in, of {lineage}")
        chain = plain.chain.at(held)
        assert later.names is not None
        with pool.longest([later.names.in_tier(tier).name(held, chain)]) as spans:
            block = largest_difference(plain.cache, spans)
        near = source.computed(later, rows[held:])[-1]
        found = self._compared(plain, state, later, near, block, size)
        # After the replies, which are kept as well: of the next way nothing may be there before.
        pool.release(1 << 62)
        return found

    def _sliced(self, rows: torch.Tensor, plain: Session, state: torch.Tensor) -> Found:
        """Computed in two slices, and nothing taken in: what rounding alone does."""
        other = _apart(self._source)
        self._source.computed(other, rows[: len(rows) // 2])
        near = self._source.computed(other, rows[len(rows) // 2 :])[-1]
        return self._compared(plain, state, other, near, 0.0, 0.0)

    def _compared(
        self,
        plain: Session,
        state: torch.Tensor,
        later: Session,
        near: torch.Tensor,
        block: float,
        size: float,
    ) -> Found:
        kl = _kl(self._head.logits(state), self._head.logits(near))
        right, other = self._greedy(plain, state), self._greedy(later, near)
        equal = sum(one == two for one, two in zip(right, other, strict=True))
        return Found(kl, equal, float((near - state).norm() / state.norm()), block, size)

    def _greedy(self, session: Session, state: torch.Tensor) -> list[int]:
        made: list[int] = []
        for _ in range(_REPLY):
            made.append(int(self._head.logits(state).argmax()))
            state = self._source.computed(session, self._head.table[made[-1:]])[-1]
        return made


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        page = Page("What whole numbers of 8 bits cost", "float32 and bfloat16")
        lines, problems = [], list[str]()
        for name in options.models:
            path = served_checkpoint(name, folder)
            head, prompts = Head(path), list(_prompts(path, options))
            for dtype in options.dtypes:
                found = _measured(path, dtype, head, prompts, options)
                lines += [_line(name, dtype, kept, found) for kept in found]
                problems += _problems(f"{name}, {dtype}", dtype, found)
        page.add(table(_HEAD, lines))
        page.add(_WORDS.format(reply=_REPLY))
        path = served_checkpoint(options.shape, folder, options.dtype)
        timed = {tier: hits(path, options, tier) for tier in TIERS}
        page.add(_times(timed, options))
        share = median([hit.taken_in / hit.prefill for hit in timed["int8"]])
        if share > _MOST_TIME:
            problems.append(f"taking in is {share:.2%} of the prefill; at most {_MOST_TIME:.1%}")
        page.end(options.out)
    finish(problems)


_HEAD = (
    "model",
    "dtype",
    "kept as",
    "bytes of a position",
    "KL of the next token, mean (largest)",
    "greedy tokens equal",
    "difference of the state",
    "of a block, largest",
    "prompts",
)
_WORDS = (
    "Against a session that computes the whole prompt. Differences are norms over the norm of what "
    "is right, of the state the median; {reply} greedy tokens a prompt, each reply on its own from "
    "the first token that differs. Bytes with digests and names."
)


def _measured(
    path: Path, dtype: str, head: Head, prompts: Sequence[list[int]], options: argparse.Namespace
) -> dict[Kept, list[Found]]:
    bench = Bench(path, dtype, head, options.threads)
    found: dict[Kept, list[Found]] = {"exact": [], "int8": [], CONTROL: []}
    try:
        for number in rounds(len(prompts), options.seconds, least=2):
            for kept, all_of_it in found.items():
                all_of_it.append(bench.one(prompts[number], kept))
    finally:
        bench.close()
    return found


def _prompts(path: Path, options: argparse.Namespace) -> Iterator[list[int]]:
    """Conversations of several turns and chats of one, as the model's template has them."""
    tokenizer = AutoTokenizer.from_pretrained(path)
    every = (template_ids(tokenizer, chat) for chat in (*conversations(), *chats()))
    long = (ids[: options.most] for ids in every if len(ids) >= options.least)
    yield from islice(long, options.prompts)


def _apart(source: Source) -> Session:
    """A session that keeps and finds nothing."""
    session = source.session()
    session.names, session.finds = None, ()
    return session


def _kl(right: torch.Tensor, other: torch.Tensor) -> float:
    """Kullback-Leibler divergence in nats, of what ``right`` gives from what ``other`` does."""
    one, two = (torch.log_softmax(logits, 0) for logits in (right, other))
    return float((one.exp() * (one - two)).sum())


def _line(name: str, dtype: str, kept: Kept, found: dict[Kept, list[Found]]) -> list[str]:
    mine, exact = found[kept], found["exact"]
    kl = [one.kl for one in mine]
    size = median([one.bytes for one in mine])
    share = median([one.bytes / two.bytes for one, two in zip(mine, exact, strict=True)])
    return [
        name,
        dtype,
        "in two slices, nothing kept" if kept == CONTROL else kept,
        "" if kept == CONTROL else f"{size:,.0f} ({share:.3f} x)",
        f"{sum(kl) / len(kl):.1e} ({max(kl):.1e})",
        f"{_equal(mine):.4f}",
        f"{median([one.state for one in mine]):.1e}",
        "" if kept == CONTROL else f"{max(one.block for one in mine):.1e}",
        str(len(mine)),
    ]


def _equal(found: Sequence[Found]) -> float:
    return sum(one.equal for one in found) / (_REPLY * len(found))


def _problems(what: str, dtype: str, found: dict[Kept, list[Found]]) -> Iterator[str]:
    pairs = zip(found["int8"], found["exact"], strict=True)
    share = median([one.bytes / other.bytes for one, other in pairs])
    kl = sum(one.kl for one in found["int8"]) / len(found["int8"])
    if share > _MOST_BYTES[dtype]:
        yield f"{what}: {share:.3f} of the bytes; at most {_MOST_BYTES[dtype]} is wanted"
    if kl > _MOST_KL:
        yield f"{what}: KL {kl:.1e}; at most {_MOST_KL:g} is wanted"
    if _equal(found["int8"]) < _LEAST_EQUAL:
        yield f"{what}: {_equal(found['int8']):.4f} of the tokens equal; {_LEAST_EQUAL} is wanted"


def _times(timed: dict[Tier, list[Hit]], options: argparse.Namespace) -> str:
    rows = [
        [
            f"{options.shape}, {options.dtype}, {tier}",
            f"{found[0].positions:,}",
            spread([hit.prefill for hit in found], "ms", 1),
            spread([hit.taken_in for hit in found], "ms"),
            f"{median([100 * hit.taken_in / hit.prefill for hit in found]):.2f}%",
            spread([hit.published for hit in found], "ms"),
            f"{median([100 * hit.published / hit.prefill for hit in found]):.2f}%",
        ]
        for tier, found in timed.items()
    ]
    head = [
        "shape",
        "positions",
        "prefill",
        "look-up and taking in",
        "of it",
        "publishing",
        "of it",
    ]
    return table(head, rows)


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=60)
    made.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    made.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    made.add_argument("--prompts", type=int, default=40, help="for each model")
    made.add_argument("--least", type=int, default=64, help="tokens of a prompt")
    made.add_argument("--most", type=int, default=2048, help="tokens of a prompt")
    made.add_argument("--prompt", type=int, default=1024, help="positions that are timed")
    made.add_argument("--hits", type=int, default=5)
    made.set_defaults(threads=os.cpu_count() or 1)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
