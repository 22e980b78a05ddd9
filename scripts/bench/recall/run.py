"""How many facts a chat still tells once half of it is left out, by what was left out.

One split-server with a trained model and one client. Somebody tells three facts, talks about other
things, some of which touch them, and brightness is gathered from the replies. Then each fact is
asked for, with everything, with the oldest parts left out and with the dimmest: so many that half
of the tokens stay. The answer's first words are given, as small models need them, and a fact is
told if the next ones have its word. ``--first`` counts the chats: the numbers of the formula were
chosen on chats from 1000 on, and those that are reported begin at 0.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from dataclasses import dataclass, field

from scripts.bench.logged_server import logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.recall.chats import Chat, chat_of
from scripts.bench.report import finish, heading
from scripts.real.model import real_model
from split_client import SplitClient
from split_client.api import ChatSession, Message, SamplingParams
from split_client.chat.brightness.rows import DEFAULT, MODES, mode_of
from split_client.chat.context.pruning import Policy

_KEPT: tuple[tuple[str, Policy | None], ...] = (
    ("everything", None),
    ("without the oldest", "oldest"),
    ("without the dimmest", "dimmest"),
)
_REPLY, _ANSWER = 24, 6
# A small model says the same again and again without.
_SAMPLED = {"temperature": 0.7, "top_p": 0.9, "repetition_penalty": 1.15}


@dataclass
class Told:
    """``facts`` that were asked for; how many were told, and of the prompt's tokens the share that
    travelled, by what was left out.
    """

    facts: int = 0
    right: Counter[str] = field(default_factory=Counter)
    shares: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    options = _options()
    told = Told()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        model = options.model or str(real_model())
        arguments = ("--model", model, "--dtype", "float32", *options.server)
        server = stack.enter_context(logged_server(folder / "server.log", *arguments))
        client = stack.enter_context(SplitClient(server.url, drafts="off"))
        for number in range(options.first, options.first + options.chats):
            _one(client, chat_of(number), number, options.mode, told)
            print(f"chat {number}: {dict(told.right)} of {told.facts}", flush=True)
        faults = server.faults()
    _report(options, told)
    finish([f"the server's log: {fault}" for fault in faults])


def _one(client: SplitClient, spec: Chat, seed: int, mode: str, told: Told) -> None:
    chat = client.conversation(seed=seed, **_SAMPLED)
    chat.brighten, chat.max_tokens = mode_of(mode), _REPLY
    for message in spec.messages:
        chat.send(message).read()
    chat.brighten, chat.max_tokens, chat.params = None, _ANSWER, SamplingParams()
    said = chat.messages
    for fact in spec.facts:
        told.facts += 1
        for name, policy in _KEPT:
            chat.conversation.go_to(said)
            chat.conversation.say(fact.asked)
            told.shares.setdefault(name, []).append(_left_out(chat, policy))
            chat.conversation.go_to((*chat.messages, Message("assistant", fact.answer)))
            told.right[name] += fact.value.lower() in chat.go_on().read().lower()
    chat.close()


def _left_out(chat: ChatSession, policy: Policy | None) -> float:
    """The share of the tokens that is left once ``policy`` has left half of them out."""
    if policy is None:
        return 1.0
    tokens = chat.context.fill().total
    proposal = chat.context.propose(policy, tokens // 2)
    if proposal is None:
        raise SystemExit("nothing of the chat may be left out")
    chat.context.take(proposal)
    return proposal.pruned.tokens / tokens


def _report(options: argparse.Namespace, told: Told) -> None:
    print(heading("Facts after half of a chat is left out", "float32"))
    print(f"{options.chats} chats from {options.first} on, brightness from `{options.mode}`.\n")
    print("| the model gets | tokens | facts told | of those with everything |")
    print("| --- | --- | --- | --- |")
    whole = told.right["everything"] or 1
    for name, _ in _KEPT:
        share = sum(told.shares[name]) / len(told.shares[name])
        right = told.right[name]
        print(f"| {name} | {share:.0%} | {right} of {told.facts} | {right / whole:.2f} |")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chats", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the number of the first chat")
    parser.add_argument("--mode", choices=MODES, default=DEFAULT)
    parser.add_argument("--model", help="a trained model (default: the one of scripts/real)")
    parser.add_argument("--folder", help="keep the log here")
    add_server_option(parser)
    options = parser.parse_args()
    if options.chats < 1:
        parser.error("at least one chat")
    return options


if __name__ == "__main__":
    main()
