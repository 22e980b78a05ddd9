"""What a trained model still tells of its chat when a part of that is hidden, by policy.

Chats state what friends are called, where they live and what they keep, say other things for a
while, and ask for one of the facts. A reply is compared with that of the whole chat, and with the
fact. Each chat is computed once; the policies take turns on it.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.bench.report import heading, table
from split_client.chat.attended import MEAN_ROWS
from split_client.chat.visible.least_attended import least_attended
from split_client.chat.visible.recent import keep_recent
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.hiding.spans import SINKS, Spans, count, union

Policy = Callable[[NDArray[np.float64], float, random.Random], Spans]
SHARES = (0.75, 0.5, 0.25)
_REPLY = 10
_LAST, _QUESTION = "last reply's attention", "the question's attention"
_NAMES = ("Ada", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas")
_CITIES = ("Paris", "Berlin", "Madrid", "London", "Rome", "Vienna", "Tokyo", "Cairo", "Lima")
_PETS = ("cat", "dog", "horse", "parrot", "rabbit", "snake", "turtle", "goat")
_ELSE = (
    ("How do I boil an egg?", "Put it into boiling water for about eight minutes, then cool it."),
    ("What is a noun?", "A noun is a word for a person, a place, a thing or an idea."),
    ("Why is the sky blue?", "Air scatters blue light more than red light, so it looks blue."),
    ("How long is a marathon?", "A marathon is about forty-two kilometres long."),
    ("What is bread made of?", "Bread is made of flour, water, salt and yeast, and is baked."),
    ("How do plants grow?", "Plants take light, water and carbon dioxide and make sugar of them."),
)


class Chat:
    """``said``: the turns before the question; ``fact``: the word that answers it."""

    def __init__(self, draw: random.Random) -> None:
        names = draw.sample(_NAMES, 3)
        cities, pets = draw.sample(_CITIES, 3), draw.sample(_PETS, 3)
        facts = list(zip(names, cities, pets, strict=True))
        self.said: list[dict[str, str]] = []
        for name, city, pet in facts:
            self._turn(f"My friend {name} lives in {city} and has a {pet}.", f"{name} sounds nice.")
        for question, answer in draw.sample(_ELSE, 5):
            self._turn(question, answer)
        name, city, pet = draw.choice(facts)
        self.question, self.fact = draw.choice(
            [
                (f"In which city does my friend {name} live?", city),
                (f"Which animal does my friend {name} have?", pet),
            ]
        )
        self.begun = f"Your friend {name} " + ("lives in" if self.fact == city else "has a")

    def _turn(self, user: str, assistant: str) -> None:
        self.said += [
            {"role": "user", "content": user},
            {"role": "assistant", "content": assistant},
        ]


class Bench:
    """The model, its tokenizer and its ends."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self._embedding = model.get_input_embeddings().weight.detach()
        self._head = model.get_output_embeddings().weight.detach()
        del model
        backbone = load_backbone(read_checkpoint(folder, folder.name), "float32", "cpu")
        self._runner = ModelRunner(backbone)
        self._runner.warm_up()

    def measured(self, chat: Chat, policies: dict[str, Policy], draw: random.Random) -> _Told:
        """By policy and share whether the reply is the same, and whether it has the fact; and
        whether the whole chat's reply has it.
        """
        before = self._ids(chat.said)
        question = {"role": "user", "content": chat.question}
        asked = self._ids([*chat.said, question], add_generation_prompt=True)[len(before) :]
        asked += self._tokenizer.encode(chat.begun, add_special_tokens=False)
        cache = KVCache()
        self._run(cache, before[:-1])
        rows = {
            _LAST: self._attention(cache, before[-1:]),
            _QUESTION: self._attention(cache, asked)[: len(before)],
        }
        whole = self._reply(cache, len(before), asked)
        found: _Told = {("", 1.0): (True, chat.fact in whole)}
        for name, policy in policies.items():
            for share in SHARES:
                spans = policy(rows.get(name, rows[_LAST]), share, draw)
                text = self._hiding(cache, len(before), asked, spans, late=name == _QUESTION)
                found[name, share] = text == whole, chat.fact in text
        return found

    def _hiding(
        self, cache: KVCache, start: int, asked: list[int], spans: Spans, *, late: bool
    ) -> str:
        """The reply with ``spans`` hidden, from the whole question as well unless that is ``late``
        to hide.
        """
        cache.hide(() if late else spans)
        if not late:
            return self._reply(cache, start, asked)
        cache.truncate(start)
        self._run(cache, asked)
        cache.hide(spans)
        return self._reply(cache, start + len(asked) - 1, asked[-1:])

    def _attention(self, cache: KVCache, ids: list[int]) -> NDArray[np.float64]:
        """What the last of ``ids``, which are appended, attends to, over all layers and heads."""
        tap = self._runner.tap(MEAN_ROWS, cache.length + len(ids))
        self._run(cache, ids, tap)
        return tap.rows().values.double().mean((0, 1)).numpy()

    def _reply(self, cache: KVCache, start: int, asked: list[int]) -> str:
        cache.truncate(start)
        ids, state = list[int](), self._run(cache, asked)
        while len(ids) < _REPLY:
            ids.append(int((self._head @ state).argmax()))
            state = self._run(cache, ids[-1:])
        cache.truncate(start)
        return str(self._tokenizer.decode(ids))

    def _run(self, cache: KVCache, ids: list[int], tap: object = None) -> torch.Tensor:
        rows = self._embedding[ids].clone()
        return self._runner.run([Slice(cache, cache.length, rows, tap)])[0][-1].clone()  # type: ignore[arg-type]

    def _ids(self, messages: list[dict[str, str]], **options: bool) -> list[int]:
        text = self._tokenizer.apply_chat_template(messages, tokenize=False, **options)
        return list(self._tokenizer.encode(text, add_special_tokens=False))


_Told = dict[tuple[str, float], tuple[bool, bool]]
_FIXED: Spans = ((0, SINKS),)


def _recent(row: NDArray[np.float64], share: float, _: random.Random) -> Spans:
    return keep_recent(len(row), round(share * len(row)) - SINKS, _FIXED)


def _attended(row: NDArray[np.float64], share: float, _: random.Random) -> Spans:
    return least_attended(row, share, _FIXED)


def _random(row: NDArray[np.float64], share: float, draw: random.Random) -> Spans:
    blocks = [(at, min(at + 16, len(row))) for at in range(SINKS, len(row), 16)]
    draw.shuffle(blocks)
    hidden: Spans = ()
    for block in blocks:
        if count(hidden) + block[1] - block[0] > (1 - share) * len(row):
            break
        hidden = union(hidden, (block,))
    return hidden


POLICIES: dict[str, Policy] = {
    "sinks and recent": _recent,
    _LAST: _attended,
    _QUESTION: _attended,
    "at random": _random,
}


def main() -> None:
    options = _options()
    draw = random.Random(1)
    bench = Bench(options.model)
    told = [bench.measured(Chat(draw), POLICIES, draw) for _ in range(options.chats)]
    right = sum(each["", 1.0][1] for each in told)
    rows = []
    for name in POLICIES:
        for share in SHARES:
            same = sum(each[name, share][0] for each in told)
            kept = sum(each[name, share][1] and each["", 1.0][1] for each in told)
            rows.append(
                [
                    name,
                    f"{100 * share:.0f}%",
                    f"{same / len(told):.2f}",
                    f"{kept / max(right, 1):.2f}",
                ]
            )
    print(heading(f"{len(told)} chats, {options.model.name}", "float32"))
    print(table(["policy", "rows seen", "replies equal", "facts still told"], rows))
    print(f"The whole chat's reply has the fact in {right} of {len(told)} chats.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=Path(".demo/smollm2"))
    parser.add_argument("--chats", type=int, default=60)
    return parser.parse_args()


if __name__ == "__main__":
    main()
