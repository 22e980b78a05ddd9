"""Replies under schemas, as the web app follows them, are what the package jsonschema accepts."""

from __future__ import annotations

import json

import jsonschema

from tests.exhaustive import EXHAUSTIVE
from tests.split_client.grammar.schemas import random_schema
from tests.web.generation_peers import ask

_COUNT = 400 if EXHAUSTIVE else 60
_TOKENS = 150


def test_whole_replies_validate() -> None:
    schemas = [random_schema(seed) for seed in range(_COUNT)]
    replies = ask("grammar/replies.js", {"schemas": schemas, "tokens": _TOKENS})
    whole = 0
    for schema, reply in zip(schemas, replies, strict=True):
        if "refused" in reply:
            assert reply["refused"]["code"] in ("invalid_schema", "form_impossible"), reply
        elif reply["whole"]:
            jsonschema.validate(json.loads(reply["text"]), schema)
            whole += 1
    assert whole > 0.8 * _COUNT
