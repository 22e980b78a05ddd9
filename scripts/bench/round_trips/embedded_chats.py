"""Two chats of forty turns with the embedded model: what it says, token by token."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from scripts.demo_model.corpus.holdout import blind_questions
from scripts.listening import listening
from split_client.api import SamplingParams, SplitClient

TURNS = 40
_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: the prompt, all of the chat so far, and the reply that greedy decoding gives."""

    prompt: list[int]
    reply: list[int]


def said() -> tuple[list[Said], list[Said]]:
    """Two chats with other questions about the same things, from a server of the real model."""
    questions = [one.turns[0] for one in blind_questions() if len(one.turns) == 1]
    with (
        tempfile.TemporaryDirectory() as folder,
        listening("serve", "--no-compat") as (url, _),
        SplitClient(url, cache=Path(folder), drafts="off") as client,
    ):
        first = _chat(client, questions[0::2][:TURNS])
        return first, _chat(client, questions[1::2][:TURNS])


def _chat(client: SplitClient, questions: list[str]) -> list[Said]:
    session = client.conversation()
    session.params, session.max_tokens = SamplingParams(), _TOKENS
    made = []
    for question in questions:
        session.send(question).read()
        answered = session.answered
        if answered is None:
            raise RuntimeError("the embedded model gave no answer")
        ids, prompt = list(answered.ids), answered.prompt_tokens
        made.append(Said(ids[:prompt], ids[prompt:]))
    session.close()
    return made
