"""Replies after an edit that moved what lies behind it, beside those that were computed plainly.

One real split-server and its client. Each case is a chat whose system message lists facts, one of
which changes; the question after it is about that fact, about another one, or about neither. The
same is asked of a session that computes all of it. Then the facts are a document that another chat,
with another system message, has sent before. Then the model that hands values on (``relay``).
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from transformers import AutoTokenizer

from scripts.bench.report import finish, median, table
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.bench.splice import relay
from scripts.listening import listening
from split_client.api import ChatSession, Record, Reply, SamplingParams, SplitClient, Verified

MODELS = ("smollm2", "embedded")
ASKED = ("the edited fact", "another fact", "neither")
DOCUMENTS = "a document of another chat"
_SYSTEMS = ("Answer in one short sentence.", "You are a clerk. Read the file, then answer.")
# Facts of a paragraph.
_OF_PARAGRAPH = 8
_TOKENS = 24
_LEAST_EQUAL, _LEAST_BLENDED = 0.97, 0.99
_DEPTHS = (0, 1, 2, 3)
_QUICK = {"models": ["embedded"], "cases": 2, "facts": 12}
_NAMES = ("red", "blue", "green", "black", "white", "brown", "grey", "pink", "golden", "silver")
_THINGS = ("box", "door", "car", "cup", "book", "lamp", "boat", "chair", "stone", "tree")
_TOPICS = ("What is the sea?", "Why do people sleep?", "Name three animals.", "What is bread?")


@dataclass(slots=True)
class Found:
    """Of one kind of question: cases, replies of which all tokens are equal, tokens that are equal
    up to the first other one, replies with the right number both ways, rows moved and computed, and
    what verifying found.
    """

    cases: int = 0
    equal: int = 0
    tokens: int = 0
    same: int = 0
    right: int = 0
    right_exact: int = 0
    moved: list[float] = field(default_factory=list)
    verified: list[Verified] = field(default_factory=list)


def main() -> None:
    options = _options()
    problems = list[str]()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        title = f", blend {options.blend}" if options.blend else ""
        page = Page(f"Replies behind an edited line{title}", options.dtype)
        lines = []
        for name in options.models:
            with _clients(served_checkpoint(name, folder), folder / name, options) as clients:
                found = _measured(*clients, options)
            lines += [_line(name, asked, one) for asked, one in found.items()]
            problems += _problems(name, found, options.blend)
        page.add(table(_HEAD, lines))
        page.add(_WORDS.format(facts=options.facts, tokens=_TOKENS))
        page.add(table(("assignments", "right", "exact", "caught"), _relayed(folder, options)))
        page.end(options.out)
    finish([] if options.quick else problems)


_HEAD = (
    "model",
    "question about",
    "replies equal",
    "tokens equal",
    "right answers",
    "exact",
    "rows moved",
    "KL, median (largest)",
    "cases",
)
_WORDS = (
    "{facts} facts, one of the first four edited; {tokens} greedy tokens a reply, compared with an "
    "exact session's up to the first other one. KL in nats a token of a reply."
)


@contextlib.contextmanager
def _clients(
    path: Path, folder: Path, options: argparse.Namespace
) -> Iterator[tuple[SplitClient, SplitClient]]:
    """One that takes approximate rows, of which it has a share computed anew, and one that takes
    none that were kept.
    """
    kept = ("--kv-reuse", "exact", "--kv-approximate", "on", "--kv-audit", "0")
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(listening("serve", *model_flags(path, options), *kept))
        ways = (("approximate", "full", options.blend), ("off", "audit", 0.0))
        near, exact = (
            stack.enter_context(
                SplitClient(
                    url,
                    cache=folder,
                    server_cache=cache,  # type: ignore[arg-type]
                    verify=verify,  # type: ignore[arg-type]
                    blend=blend,
                )
            )
            for cache, verify, blend in ways
        )
        yield near, exact


def _measured(
    near: SplitClient, exact: SplitClient, options: argparse.Namespace
) -> dict[str, Found]:
    found = {asked: Found() for asked in (*ASKED, DOCUMENTS)}
    seconds = options.seconds / len(options.models)
    for number in rounds(options.cases, seconds, least=2):
        facts = Facts(options.facts, number)
        for asked, one in found.items():
            question, answer = facts.question(asked)
            made = _documented if asked == DOCUMENTS else _edited
            mine, verified = made(near, facts, question)
            right, _ = made(exact, facts, question)
            _take(one, mine, right, answer, verified)
    return found


def _edited(client: SplitClient, facts: Facts, question: str) -> tuple[Reply, Verified | None]:
    """The reply to ``question`` after the fact was edited."""
    # What was too far off before is not what this is about.
    client.verified = Record()
    chat: ChatSession = client.conversation(
        facts.text(edited=False), SamplingParams(), max_tokens=_TOKENS
    )
    chat.send(_TOPICS[0]).read()
    chat.conversation.undo()
    chat.conversation.set_system(facts.text(edited=True))
    reply = chat.send(question)
    reply.read()
    verified = chat.verified
    chat.close()
    return reply, verified


def _documented(client: SplitClient, facts: Facts, question: str) -> tuple[Reply, Verified | None]:
    """The reply to ``question`` about facts that a chat before this one was about as well."""
    client.verified, lines = Record(), facts.text(edited=False).splitlines()
    parts = range(0, len(lines), _OF_PARAGRAPH)
    book = "\n\n".join("\n".join(lines[at : at + _OF_PARAGRAPH]) for at in parts)
    for system, asked in zip(_SYSTEMS, (_TOPICS[0], question), strict=True):
        chat = client.conversation(system, SamplingParams(), max_tokens=_TOKENS)
        reply = chat.send(asked, documents=[book])
        reply.read()
        verified = chat.verified
        chat.close()
    return reply, verified


def _take(one: Found, mine: Reply, right: Reply, answer: str, verified: Verified | None) -> None:
    if not mine.stats.prompt_moved or right.stats.prompt_tiers.total:
        raise SystemExit("nothing was moved, or an exact reply stands on what was")
    one.cases += 1
    one.equal += mine.token_ids == right.token_ids
    pairs = zip(mine.token_ids, right.token_ids, strict=False)
    one.same += next((i for i, (a, b) in enumerate(pairs) if a != b), len(right.token_ids))
    one.tokens += len(right.token_ids)
    one.right += answer in mine.text
    one.right_exact += answer in right.text
    one.moved.append(mine.stats.prompt_moved / mine.stats.prompt_tokens)
    if verified is not None:
        one.verified.append(verified)


class Facts:
    """Facts about things, one of which is edited."""

    def __init__(self, count: int, seed: int) -> None:
        draw = random.Random(seed)
        things = [f"{name} {thing}" for name in _NAMES for thing in _THINGS]
        self._things = draw.sample(things, count)
        self._numbers = [draw.randrange(100, 1000) for _ in range(count)]
        self._edited = draw.randrange(4)
        self._other = draw.randrange(4, count)
        self._new = draw.randrange(1000, 10_000)
        self._topic = _TOPICS[1 + seed % (len(_TOPICS) - 1)]

    def text(self, *, edited: bool) -> str:
        """The system message."""
        numbers = list(self._numbers)
        if edited:
            numbers[self._edited] = self._new
        lines = (
            f"The number of the {thing} is {number}."
            for thing, number in zip(self._things, numbers, strict=True)
        )
        return "You know these facts.\n" + "\n".join(lines)

    def question(self, asked: str) -> tuple[str, str]:
        """What is asked, and what the answer has in it."""
        if asked == "neither":
            return self._topic, ""
        mine = asked == "the edited fact"
        index = self._edited if mine else self._other
        number = self._new if mine else self._numbers[index]
        return f"What is the number of the {self._things[index]}?", str(number)


def _relayed(folder: Path, options: argparse.Namespace) -> list[list[str]]:
    """How many replies of the model that hands values on are right, and how many wrong ones are
    caught by verifying them.
    """
    path = folder / "relay"
    tokenizer = AutoTokenizer.from_pretrained(served_checkpoint("embedded", folder))
    relay.write_checkpoint(path, tokenizer)
    lines = []
    with _clients(path, folder / "of the relay", options) as (near, exact):
        for depth in _DEPTHS:
            mine = [_one(near, depth, seed) for seed in range(options.cases)]
            right = [_one(exact, depth, seed) for seed in range(options.cases)]
            wrong = [found for ok, found in mine if not ok]
            caught = sum(found is not None and not found.passed for found in wrong)
            lines.append(
                [
                    str(depth),
                    f"{sum(ok for ok, _ in mine)} of {len(mine)}",
                    f"{sum(ok for ok, _ in right)} of {len(right)}",
                    f"{caught} of {len(wrong)}",
                ]
            )
    return lines


def _one(client: SplitClient, depth: int, seed: int) -> tuple[bool, Verified | None]:
    """Whether the reply after an edit is right, and what verifying it finds."""
    model = client._connected()
    sequence, _ = model.sequence()
    sequence.edits.blend = client._blend
    before, after = (relay.relayed(depth, value, 240, seed) for value in (1, 4))
    after[6:6] = [relay.filler(3), relay.filler(4)]
    for ids in (before, after):
        reply = client._maker().reply(sequence, ids, SamplingParams(), 1, ())
        reply.read()
    verifier, found = client._verifier(), None
    if verifier is not None:
        found = verifier.verified(sequence, [*after, *reply.token_ids], len(after))
    sequence.close()
    return reply.token_ids == [relay.answer(4)], found


def _line(name: str, asked: str, one: Found) -> list[str]:
    kl = [each.kl for each in one.verified]
    known = asked != "neither"
    return [
        name,
        asked,
        f"{one.equal / one.cases:.3f}",
        f"{one.same / max(1, one.tokens):.3f}",
        f"{one.right} of {one.cases}" if known else "",
        f"{one.right_exact} of {one.cases}" if known else "",
        f"{median(one.moved):.2f}",
        f"{median(kl):.1e} ({max(kl):.1e})" if kl else "",
        str(one.cases),
    ]


def _problems(name: str, found: dict[str, Found], blend: float) -> Iterator[str]:
    least = _LEAST_BLENDED if blend else _LEAST_EQUAL
    for asked, one in found.items():
        if one.equal < least * one.cases:
            yield (
                f"{name}, {asked}: {one.equal} of {one.cases} replies equal; "
                f"{least} of them are wanted"
            )


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=180, dtypes=("float32", "bfloat16"))
    made.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    made.add_argument("--cases", type=int, default=12, help="for each model and question")
    made.add_argument("--facts", type=int, default=24)
    made.add_argument("--blend", type=float, default=0.0, help="share that is computed anew")
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
