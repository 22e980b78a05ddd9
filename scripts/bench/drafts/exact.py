"""Replies with drafts over the real engine against those of a token for each step.

    python -m scripts.bench.drafts.exact [--dtype float32] [--replies 3000]

The embedded model in this process. Drafts are the product's own, `auto` and of fixed lengths, from
the reply without drafts, in which tokens are changed by chance. Where a token differs, it tells how
far the logits are apart that both were chosen from: rounding, or a fault.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from transformers import AutoTokenizer

from scripts.bench.report import heading, table
from scripts.bench.round_trips.clock import CountedClock
from scripts.demo_model.corpus.holdout import blind_questions
from scripts.real.models.in_process import InProcess
from scripts.real.models.ours import Middle
from scripts.real.models.served import request, template_ids
from split_client.chat.drafting import Drafting
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Finished, Limits, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Choice, Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.wanted import Drafts
from split_server.checkpoint.folder import EMBEDDED

# Each reply without drafts is compared with so many that have them.
_LENGTHS: tuple[Drafts, ...] = ("auto", 1, 3, 4, 7, 8, 15, "auto", 2, 5, 11, 15)
_TOKENS, _CONTEXT = 24, 4096
_WRONG = 0.15


@dataclass(slots=True)
class Compared:
    """``tokens`` up to and with the first that differs of each reply; ``apart``: of each such one,
    the largest difference of a logit; ``states``: of any number of a state up to there, the
    largest difference.
    """

    replies: int = 0
    tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    apart: list[float] = field(default_factory=list)
    states: float = 0.0


class _Watched(Sampler):
    """Keeps the state that each token was chosen from."""

    def __init__(self, head: ExactLMHead, params: SamplingParams) -> None:
        super().__init__(head, params)
        self.states: list[NDArray[np.float32]] = []

    def choose(self, hidden: NDArray[np.float32], *rest: Any) -> Choice:
        self.states.append(np.array(hidden))
        return super().choose(hidden, *rest)


@dataclass(frozen=True, slots=True)
class _Reply:
    ids: list[int]
    states: list[NDArray[np.float32]]
    drafted: int
    accepted: int


class Device:
    """Replies of the embedded model's ends over ``middle``."""

    def __init__(self, middle: Middle, rows: NDArray[np.float32], head: ExactLMHead) -> None:
        self._middle, self._table, self._head = middle, rows, head
        self._tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
        self._clock = CountedClock(lambda: 0.0)
        self.prompts = [
            template_ids(self._tokenizer, request(one.turns[0])) for one in blind_questions()
        ]

    def compare(self, replies: int) -> Compared:
        """So many replies with drafts."""
        found, plain, asked = Compared(), _Reply([], [], 0, 0), (list[int](), SamplingParams())
        for number in range(replies):
            turn, at = divmod(number, len(_LENGTHS))
            rng = random.Random(number)
            if at == 0:
                asked = self.prompts[turn % len(self.prompts)], _params(turn)
                plain = self._reply(*asked, None)
            drafter = Drafting(_LENGTHS[at], "chat").chat().drafter(self._faulty(plain.ids, rng))
            self._note(found, plain, self._reply(*asked, drafter))
        return found

    def _note(self, found: Compared, plain: _Reply, one: _Reply) -> None:
        found.replies, found.drafted = found.replies + 1, found.drafted + one.drafted
        found.accepted += one.accepted
        pairs = zip(plain.ids, one.ids, strict=False)
        first = next((at for at, (a, b) in enumerate(pairs) if a != b), None)
        compared = slice(None if first is None else first + 1)
        pairs_of_states = zip(plain.states[compared], one.states[compared], strict=False)
        apart = max(float(np.abs(a - b).max()) for a, b in pairs_of_states)
        found.states = max(found.states, apart)
        if first is None:
            if len(plain.ids) != len(one.ids):
                raise SystemExit("a reply is longer with drafts than without")
            found.tokens += len(one.ids)
            return
        found.tokens += first + 1
        a, b = self._head.logits(plain.states[first]), self._head.logits(one.states[first])
        found.apart.append(float(np.abs(a - b).max()))

    def _faulty(self, ids: list[int], rng: random.Random) -> list[int]:
        words = len(self._table)
        return [rng.randrange(words) if rng.random() < _WRONG else token for token in ids]

    def _reply(self, prompt: list[int], params: SamplingParams, drafter: Drafter | None) -> _Reply:
        sampler = _Watched(self._head, params)
        sequence = Sequence(
            InProcess(self._middle, self._clock, _CONTEXT),
            self._rows,
            lambda ids, start, stop: self._rows(ids[start:stop]),
            clock=self._clock,
        )
        limits = Limits(frozenset({self._tokenizer.eos_token_id}), _TOKENS)
        made = decode(
            sequence, sampler, self._tokenizer, prompt, limits, drafter=drafter, clock=self._clock
        )
        events = [event for event in made if not isinstance(event, Finished)]
        return _Reply(
            [event.token for event in events],
            sampler.states,
            sum(event.drafted for event in events),
            sum(event.guessed for event in events),
        )

    def _rows(self, ids: list[int]) -> NDArray[np.float32]:
        return self._table[ids]


def _params(turn: int) -> SamplingParams:
    """Greedy every second time; else drawn, with limits and penalties by turns."""
    if turn % 2 == 0:
        return SamplingParams(repetition_penalty=(1.0, 1.2)[turn // 2 % 2])
    return SamplingParams(
        temperature=(0.6, 1.0)[turn // 2 % 2],
        top_k=(0, 40)[turn // 4 % 2],
        top_p=(1.0, 0.9)[turn // 8 % 2],
        frequency_penalty=(0.0, 0.3)[turn // 16 % 2],
        seed=turn,
    )


@contextmanager
def device(dtype: str) -> Iterator[Device]:
    """The embedded model with a middle that computes in ``dtype``."""
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        rows, path = _table(), Path(folder) / "head.bin"
        rows.tofile(path)
        head = ExactLMHead(WeightRows.open(path, "f32", *rows.shape), HeadSpec())
        yield Device(Middle(EMBEDDED, dtype, threads=1), rows, head)


def _table() -> NDArray[np.float32]:
    """Embedding and LM head, which are tied: [vocabulary, H]."""
    with safe_open(EMBEDDED / "model.safetensors", "pt") as tensors:
        rows: NDArray[np.float32] = tensors.get_tensor("model.embed_tokens.weight").float().numpy()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--replies", type=int, default=3_000)
    options = parser.parse_args()
    with device(options.dtype) as one:
        found = one.compare(options.replies)
    share = f"{len(found.apart):,} of {found.tokens:,} ({len(found.apart) / found.tokens:.3%})"
    print(heading("Drafts over the engine", options.dtype))
    rows = [
        ("replies", f"{found.replies:,}"),
        ("first tokens that differ, of all up to there", share),
        ("numbers of a state apart, at most", f"{found.states:.1e}"),
        ("logits apart where tokens differ, at most", f"{max(found.apart, default=0.0):.1e}"),
        ("drafted tokens right", f"{found.accepted:,} of {found.drafted:,}"),
    ]
    print(table(("figure", options.dtype), rows))


if __name__ == "__main__":
    main()
