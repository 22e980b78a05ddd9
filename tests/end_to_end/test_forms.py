"""Replies with a form in split mode: the embedded model at a real server, Python and terminal."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from split_client import AsyncSplitClient, SplitClient
from split_client.api import Choice, Gbnf, JsonObject, Lark, Regex
from split_client.errors import ReplyCut
from split_client.grammar.errors import FormInvalid, GrammarInvalid, GrammarMissing
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer, running_server
from tests.split_client.grammar.schemas import random_schema

QUESTION = "Tell me about Ada and her dog."
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[SplitClient]:
    with SplitClient(server.url) as opened:
        yield opened


class Person:
    """As classes of pydantic tell their schema."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return PERSON


@pytest.mark.parametrize("form", [PERSON, Person, JsonObject()], ids=["dict", "class", "object"])
def test_a_reply_with_a_schema_parses_and_validates(client: SplitClient, form: Any) -> None:
    reply = client.chat(QUESTION, max_tokens=80, temperature=1, seed=3, form=form)
    assert reply.value == json.loads(reply.text)
    if not isinstance(form, JsonObject):
        jsonschema.validate(reply.value, PERSON)
    assert reply.finish_reason == "stop"


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        (Regex("[A-Z][a-z]{2,9} is [0-9]{1,2}[.]"), "[A-Z][a-z]{2,9} is [0-9]{1,2}[.]"),
        (Choice(("yes", "no", "perhaps")), "yes|no|perhaps"),
        (Lark('start: "a" (" and " "b")*\n'), "a( and b)*"),
        (Gbnf('root ::= ("x" | "y") "!"+'), "[xy]!+"),
    ],
)
def test_a_reply_has_the_form_that_was_asked_for(
    client: SplitClient, form: Any, pattern: str
) -> None:
    for seed in range(3):
        reply = client.generate("It is ", max_tokens=30, temperature=1, seed=seed, form=form)
        assert re.fullmatch(pattern, reply.value), reply.text


@pytest.mark.parametrize("seed", range(100, 300, 1 if EXHAUSTIVE else 40))
def test_replies_of_random_schemas_validate_unless_they_are_cut(
    client: SplitClient, seed: int
) -> None:
    schema = random_schema(seed)
    reply = client.chat(QUESTION, max_tokens=250, temperature=1, seed=seed, form=schema)
    jsonschema.Draft202012Validator(schema).validate(reply.value)


def test_a_reply_that_is_cut_has_no_value(client: SplitClient) -> None:
    long = {"type": "string", "minLength": 200}
    reply = client.chat(QUESTION, max_tokens=10, form=long)
    with pytest.raises(ReplyCut, match="max_tokens"):
        _ = reply.value
    assert (reply.finish_reason, len(reply.token_ids)) == ("length", 10)
    stopped = client.chat(QUESTION, max_tokens=80, stop='"age"', form=PERSON)
    with pytest.raises(ReplyCut, match="stop text"):
        _ = stopped.value
    with pytest.raises(ReplyCut, match="form="):
        _ = client.chat(QUESTION, max_tokens=3).value


def test_a_chat_keeps_its_form_until_it_is_changed(client: SplitClient) -> None:
    chat = client.conversation(max_tokens=60, temperature=0, form=PERSON)
    assert chat.send(QUESTION).value.keys() == {"name", "age"}
    chat.form = Choice(("good", "bad"))
    assert chat.send("And?").value in ("good", "bad")
    chat.form = None
    assert chat.send("And?").read()
    with pytest.raises(FormInvalid, match="no form"):
        chat.form = 3
    assert chat.form is None
    chat.close()


def test_a_form_that_cannot_be_is_refused_before_anything_is_sent(client: SplitClient) -> None:
    before = client.stats.exchanges
    for form, code in (
        ({"not": {}}, "invalid_schema"),
        (Regex("a(?=b)"), "form_invalid"),
        (Lark('start: "a" start'), "form_endless"),
        (Lark('start: "a"\nstart: b b'), "form_invalid"),
        (Gbnf("root = 3"), "form_invalid"),
        (Choice(()), "form_invalid"),
    ):
        with pytest.raises(GrammarInvalid) as refusal:
            client.chat(QUESTION, form=form)
        assert refusal.value.code == code
        assert "\n" not in str(refusal.value)
    assert client.stats.exchanges == before


def test_without_the_library_it_is_said_how_to_install_it(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with SplitClient(server.url) as client, pytest.raises(GrammarMissing, match="pip install"):
        client.chat(QUESTION, form=PERSON)


def test_replies_of_the_client_for_event_loops_have_forms(server: RunningServer) -> None:
    async def main() -> tuple[Any, Any]:
        async with AsyncSplitClient(server.url) as client:
            chat = await client.conversation(max_tokens=60, form=PERSON)
            return await client.generate(
                "It is ", form=Choice(("a", "b"))
            ).value(), await chat.send(QUESTION).value()

    chosen, person = asyncio.run(main())
    assert chosen in ("a", "b")
    assert person.keys() == {"name", "age"}
