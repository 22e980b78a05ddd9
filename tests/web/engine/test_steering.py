"""Replies that go on, and other tokens chosen, in a browser: as Hugging Face and Python have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer
from tests.web.engine.page import EnginePage

QUESTION = [{"role": "user", "content": "What is split inference?"}]
COUNT = 40
# Of log-probabilities, whose states travelled as float16.
NEAR = 5e-3
_SAMPLED = {"temperature": 0.9, "top_k": 40, "repetition_penalty": 1.1, "seed": "7"}


def made(engine: EnginePage, name: str, **options: Any) -> dict[str, Any]:
    """A reply without drafts whose tokens are kept as ``name``."""
    asked = {"answer": name, "drafts": "off", "maxTokens": COUNT} | options
    return engine.reply(QUESTION, **asked)


def alternatives(engine: EnginePage, name: str, at: int) -> list[tuple[int, str, float]]:
    found = engine.page.evaluate("([name, at]) => engine.alternatives(name, at)", [name, at])
    return [(token, text, logprob) for token, text, logprob in found]


def prompt() -> list[int]:
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    return list(
        tokenizer.apply_chat_template(QUESTION, add_generation_prompt=True, return_dict=False)
    )


def test_a_chosen_alternative_goes_on_as_a_fresh_run_with_that_prefix(engine: EnginePage) -> None:
    reply = made(engine, "first", chat="branch")
    second, text, _ = alternatives(engine, "first", 5)[1]
    begun = {"answer": "first", "text": reply["text"], "at": 5, "token": second}
    other = made(engine, "second", chat="branch", begun=begun)
    prefix = [*reply["ids"][:5], second]
    assert other["ids"] == oracle.greedy(EMBEDDED, [*prompt(), *prefix], COUNT)
    # Nothing but that token is sent, and the first new one comes with it.
    assert other["promptSent"] == 1
    assert other["roundTrips"] == other["tokens"]
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    assert text in tokenizer.decode(prefix)
    assert other["text"] == tokenizer.decode([*prefix, *other["ids"]], skip_special_tokens=True)


def test_with_noise_a_chosen_token_is_one_more_row(engine: EnginePage) -> None:
    noise = {"sigma": 0.01}

    def spent() -> int:
        told = "(noise) => engine.noise('noised', noise)"
        return int(engine.page.evaluate(told, noise)["chat"]["rows"])

    reply = made(engine, "noised 1", chat="noised", noise=noise, maxTokens=8)
    assert spent() == reply["promptTokens"] + 7
    third, *_ = alternatives(engine, "noised 1", 3)[2]
    begun = {"answer": "noised 1", "text": reply["text"], "at": 3, "token": third}
    rows = spent()
    # That row brings the first new token, and each of the others one more.
    other = made(engine, "noised 2", chat="noised", noise=noise, maxTokens=4, begun=begun)
    assert other["promptSent"] == 1
    assert spent() == rows + 1 + 3
    assert len(alternatives(engine, "noised 2", 4)) == 20


def test_a_reply_that_was_cut_goes_on_with_what_would_have_followed(engine: EnginePage) -> None:
    for chat, params in (("greedy", {"temperature": 0}), ("drawn", _SAMPLED)):
        whole = made(engine, "whole", chat=chat, params=params)
        cut = made(engine, "cut", chat=chat, params=params, maxTokens=7)
        begun = {"answer": "cut", "text": cut["text"]}
        rest = made(engine, "rest", chat=chat, params=params, begun=begun, maxTokens=COUNT - 7)
        assert cut["ids"] + rest["ids"] == whole["ids"]
        assert rest["text"] == whole["text"]
        assert rest["promptSent"] == 1


def test_a_reply_whose_tokens_are_not_known_is_spelled_and_goes_on(engine: EnginePage) -> None:
    text = "Split inference is"
    rest = made(engine, "spelled", chat="spelled", begun={"answer": None, "text": text})
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    spelled = tokenizer.encode(text, add_special_tokens=False)
    assert rest["ids"] == oracle.greedy(EMBEDDED, [*prompt(), *spelled], COUNT)
    assert rest["text"].startswith(text)
    missing = made(engine, "x", begun={"answer": "gone", "text": text, "at": 0, "token": 1})
    assert missing["error"] == "nothing_to_continue"


def test_alternatives_are_those_of_the_python_client(
    engine: EnginePage, server: RunningServer, tmp_path: Path
) -> None:
    reply = made(engine, "told", chat="told")
    with SplitClient(server.url, cache=tmp_path, drafts="off") as client:
        chat = client.conversation(params=SamplingParams(), max_tokens=COUNT)
        chat.send(QUESTION[0]["content"]).read()
        theirs = chat.tokens
        assert [token.id for token in theirs] == reply["ids"]
        told = engine.page.evaluate("engine.tokens('told', 0)")
        for mine, other in zip(told["tokens"], theirs, strict=False):
            assert mine["id"] == other.id
            assert mine["text"] == other.text
            assert mine["logprob"] == pytest.approx(other.logprob, abs=NEAR)
        for at in range(len(theirs)):
            here = {token: (text, p) for token, text, p in alternatives(engine, "told", at)}
            there = {a.token: (a.text, a.logprob) for a in theirs[at].alternatives}
            for token in here.keys() & there.keys():
                assert here[token][0] == there[token][0]
                assert here[token][1] == pytest.approx(there[token][1], abs=NEAR)
            # States of two sessions differ in their last bits, and so do the last of twenty.
            least = min(p for _, p in here.values())
            for token in here.keys() ^ there.keys():
                assert (here | there)[token][1] == pytest.approx(least, abs=NEAR)
    assert told["count"] == len(reply["ids"])


def test_a_form_counts_from_the_beginning_and_refuses_what_it_does_not_permit(
    engine: EnginePage,
) -> None:
    form = {"kind": "regex", "text": "(yes|no), [a-z ]{20,40}"}
    whole = made(engine, "whole", chat="form", form=form)
    half = len(whole["ids"]) // 2
    begun = {"answer": "whole", "text": whole["text"], "at": half, "token": whole["ids"][half]}
    rest = made(engine, "rest", chat="form", form=form, begun=begun, maxTokens=COUNT - half - 1)
    assert [*whole["ids"][: half + 1], *rest["ids"]] == whole["ids"]
    assert rest["text"] == whole["text"]
    (digit,) = AutoTokenizer.from_pretrained(EMBEDDED).encode("7", add_special_tokens=False)
    refused = made(engine, "no", chat="form", form=form, begun=begun | {"token": digit})
    assert refused["error"] == "branch_invalid"
