"""Replies on chunks that were computed behind another text: ours, and a peer's that reuses them.

Each case is two prompts of token ids with a part in common, at the same place, so that windows of
fixed length find it as well as boundaries of the text do. The first prompt is computed, then the
second one is asked for: by a client of a real split-server, which takes what is known of the part,
and by KVBoost's chunk reuse, which takes no chunk behind one that it does not know and so is given
the new beginning before. Both are compared with the plain computation: all tokens of the reply, and
what is predicted for its first one.

``relay``: a value is said in the first 64 tokens, handed on in what both prompts have, and asked
for at the end; the second prompt says another value. ``facts``: lines about things behind one of
two system prompts; asked for is a line.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from transformers import AutoTokenizer

from scripts.bench.report import finish, median, table
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.bench.splice import relay
from scripts.bench.splice.quality import MODELS, Facts
from scripts.bench.workers import Worker
from scripts.listening import listening
from split_client.api import SamplingParams, SplitClient
from split_client.generation.documents.documents import Documents
from split_client.generation.editing.plan import SEAM
from split_wire.documents.chunks import Chunk

_CHUNK, _TOKENS = 64, 16
# Some tokens more than windows, so that the question is in none.
_DEPTHS, _LENGTH, _SEEDS = (0, 1, 2), 340, 1000
_SYSTEMS = ("Answer in one short sentence.", "You are a clerk who reads files.")
_LEAST_EQUAL = 0.97
_QUICK = {"models": ["embedded"], "cases": 2, "facts": 12}
_HEAD = ("case", "way", "replies equal", "KL, median (largest)", "rows known", "caught", "cases")


class Case(NamedTuple):
    """``before`` is computed first; of ``ids`` the positions of ``part`` are as in it. ``tokens``
    of a reply are compared.
    """

    before: list[int]
    ids: list[int]
    part: range
    tokens: int


@dataclass(slots=True)
class Found:
    """Replies that are equal, divergences of the first prediction in nats, shares of the prompt
    that were known, and how many wrong replies verifying found.
    """

    equal: list[bool] = field(default_factory=list)
    kl: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    caught: int | None = None

    def row(self, case: str, way: str) -> list[str]:
        """Of the table."""
        wrong = self.equal.count(False)
        caught = "" if self.caught is None else f"{self.caught} of {wrong}"
        return [
            case,
            way,
            f"{sum(self.equal) / len(self.equal):.3f}",
            f"{median(self.kl):.1e} ({max(self.kl):.1e})",
            f"{median(self.known):.2f}",
            caught,
            str(len(self.equal)),
        ]


class Windows:
    """In place of what finds boundaries in a text: the part in common, in windows."""

    def __init__(self, part: range) -> None:
        self._part = part

    def chunks(self, tokens: Sequence[int], _: object) -> list[Chunk]:
        """Those that ``tokens`` have all of."""
        ends = range(self._part.start + _CHUNK, min(self._part.stop, len(tokens)) + 1, _CHUNK)
        return [Chunk(end - _CHUNK, _CHUNK) for end in ends]


def main() -> None:
    options = _options()
    problems, lines = list[str](), list[list[str]]()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        page = Page("Chunks behind another text, beside a peer", options.dtype)
        path = folder / "relay"
        tokenizer = AutoTokenizer.from_pretrained(served_checkpoint("embedded", folder))
        relay.write_checkpoint(path, tokenizer)
        for depth in _DEPTHS:
            cases = [_relayed(depth, seed) for seed in range(options.cases)]
            found = _measured(path, folder, cases, options)
            lines += [one.row(f"relay, {depth} assignments", way) for way, one in found.items()]
        for name in options.models:
            path = served_checkpoint(name, folder)
            cases = [*_facts(path, options)]
            found = _measured(path, folder, cases, options)
            lines += [one.row(f"facts, {name}", way) for way, one in found.items()]
            problems += _problems(name, found)
        page.add(table(_HEAD, lines))
        page.add(_words(options))
        page.end(options.out)
    finish([] if options.quick else problems)


def _relayed(depth: int, number: int) -> Case:
    """All assignments are among the rows that are taken: not in the first window, not behind the
    last whole one, and not where a chunk's first rows are computed anew.
    """
    part = range(_CHUNK, _LENGTH - _LENGTH % _CHUNK - _CHUNK)
    for seed in count(number * _SEEDS):
        before, after = (relay.relayed(depth, value, _LENGTH, seed) for value in (1, 4))
        places = [at for at in range(len(after)) if relay.hands_on(after[at])]
        if all(at in part and at % _CHUNK >= SEAM for at in places):
            return Case(before, after, part, 1)
    raise AssertionError("unreachable")


def _facts(path: Path, options: argparse.Namespace) -> Iterator[Case]:
    """System prompts of as many tokens as the window has, and lines that begin with the next."""
    tokenizer = AutoTokenizer.from_pretrained(path)
    first, second = (
        (tokenizer.encode(text + "\n" + "And so on. " * 80))[:_CHUNK] for text in _SYSTEMS
    )
    for number in range(options.cases):
        facts = Facts(options.facts, number)
        book = tokenizer.encode(facts.text(edited=False) + "\n")
        question, _ = facts.question("another fact")
        asked = tokenizer.encode(f"\n{question}\n")
        whole = len(book) - len(book) % _CHUNK
        part = range(_CHUNK, _CHUNK + whole)
        yield Case([*first, *book, *asked], [*second, *book, *asked], part, _TOKENS)


def _measured(
    path: Path, folder: Path, cases: Sequence[Case], options: argparse.Namespace
) -> dict[str, Found]:
    found = {}
    for blend in (0.0, options.blend) if options.blend else (0.0,):
        way = f"ours, blend {blend}" if blend else "ours"
        with _client(path, folder / f"{path.name} cache", blend, options) as client:
            found[way] = _ours(client, blend, cases, options)
    if options.kvboost_python is not None:
        arguments = (str(path), options.dtype, str(options.threads))
        worker = Worker("scripts.bench.peers.kv_boost", *arguments, python=options.kvboost_python)
        with contextlib.closing(worker):
            version = worker.ask(op="facts")["version"]
            found[f"KVBoost {version}"] = _peers(worker, cases, options)
    return found


@contextlib.contextmanager
def _client(
    path: Path, folder: Path, blend: float, options: argparse.Namespace
) -> Iterator[SplitClient]:
    kept = ("--kv-reuse", "exact", "--kv-approximate", "on", "--kv-audit", "0")
    with listening("serve", *model_flags(path, options), *kept) as (url, _):
        asks = {"cache": folder, "server_cache": "approximate", "blend": blend}
        with SplitClient(url, **asks) as client:
            yield client


def _ours(
    client: SplitClient, blend: float, cases: Sequence[Case], options: argparse.Namespace
) -> Found:
    found, model, verifier = Found(caught=0), client._connected(), client._verifier()
    if verifier is None:
        raise SystemExit("nothing approximate is verified")
    for number in rounds(len(cases), options.seconds, least=2):
        case = cases[number]
        reply_to = lambda sequence, ids, case=case: client._maker().reply(  # noqa: E731
            sequence, ids, SamplingParams(), case.tokens, ()
        )
        for ids in (case.before, case.ids):
            sequence, _ = model.sequence()
            _cut(sequence.documents, case.part, blend)
            reply = reply_to(sequence, ids)
            reply.read()
            if ids is case.before:
                sequence.close()
        if not reply.stats.prompt_documents:
            raise SystemExit("nothing of the part was known")
        plain = model.apart()
        right = reply_to(plain, case.ids)
        right.read()
        near = verifier.verified(sequence, [*case.ids, *reply.token_ids[:1]], len(case.ids))
        found.equal.append(reply.token_ids == right.token_ids)
        found.kl.append(near.kl)
        found.known.append(reply.stats.prompt_documents / len(case.ids))
        found.caught = (found.caught or 0) + (not found.equal[-1] and not near.passed)
        for each in (sequence, plain):
            each.close()
    return found


def _cut(documents: Documents, part: range, blend: float) -> None:
    documents.cutter = Windows(part)  # type: ignore[assignment]
    documents.blend = blend


def _peers(worker: Worker, cases: Sequence[Case], options: argparse.Namespace) -> Found:
    found = Found()
    for number in rounds(len(cases), options.seconds, least=2):
        case = cases[number]
        told = worker.ask(
            op="compared", kept=case.before, ids=case.ids, chunk=_CHUNK, tokens=case.tokens
        )
        found.equal.append(told["ids"] == told["right"])
        found.kl.append(max(0.0, told["kl"]))
        found.known.append(told["cached"] / len(case.ids))
    return found


def _problems(name: str, found: dict[str, Found]) -> Iterator[str]:
    mine = found["ours"]
    if sum(mine.equal) < _LEAST_EQUAL * len(mine.equal):
        yield f"{name}: {sum(mine.equal)} of {len(mine.equal)} replies equal, {_LEAST_EQUAL} wanted"


def _words(options: argparse.Namespace) -> str:
    peer = "" if options.kvboost_python else " KVBoost takes part with --kvboost-python."
    return (
        f"Chunks of {_CHUNK} tokens at the same place in both prompts; greedy replies of "
        f"{_TOKENS} tokens, one for the relay. KL in nats, of the first token. Caught: wrong "
        f"replies that are more than the bound off there.{peer}"
    )


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=60, dtypes=("float32", "bfloat16"))
    made.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    made.add_argument("--cases", type=int, default=12, help="of each kind")
    made.add_argument("--facts", type=int, default=24)
    made.add_argument("--blend", type=float, default=0.15, help="as a second way; 0: not")
    made.add_argument("--kvboost-python", metavar="PYTHON", help="of an environment that has it")
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
