"""JSON schemas made at random, and texts chosen at random under a constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from split_client.generation.constraint import Constraint
from split_client.grammar.compiling import FormConstraint, compiled_form
from split_client.grammar.form import JsonObject, JsonSchema
from split_client.grammar.matching import with_deep_stack
from split_client.grammar.vocabulary import readable_vocabulary

Schema = dict[str, Any]
_PATTERNS = (
    "^[a-z]{3}$",
    "^[A-Z][0-9]{2,4}(x|yy)?$",
    "^(red|green|blue)-[0-9]+$",
    "^[a-f0-9]{8}-[a-f0-9]{4}$",
    "^a*b$",
    "^.{2}-$",
    "^(?:é|ü)+$",
)
_VALUES: tuple[Any, ...] = (1, -2, 0.5, None, True, "a", "ab", 'x"y\\', "ü", [1, "z"], {"k": 1})


class Grammars:
    """The schemas of one vocabulary, compiled in this process."""

    def __init__(self, tokenizer_json: str, rows: int, eos: frozenset[int]) -> None:
        self.vocabulary = readable_vocabulary(tokenizer_json, rows, eos)

    def schema(self, schema: Any) -> Callable[[], FormConstraint]:
        """None: any object."""
        form = JsonObject() if schema is None else JsonSchema.of(schema)
        return with_deep_stack(lambda: compiled_form(self.vocabulary, form))


def random_schema(seed: int, depth: int = 3) -> Schema:
    """An object at the top; with ``depth`` levels of arrays, objects and choices below."""
    random = Random(seed)  # noqa: S311
    schema = _object(random, depth)
    if random.random() < 0.4:
        schema["$defs"] = {"node": _recursive(random), "other": _leaf(random)}
        schema["properties"]["link"] = {"$ref": "#/$defs/node"}
        schema["properties"]["other"] = {"$ref": "#/$defs/other"}
        if random.random() < 0.5:
            schema["required"] = [*schema["required"], "link"]
    return schema


def _recursive(random: Random) -> Schema:
    own = {"$ref": "#/$defs/node"}
    if random.random() < 0.5:
        return {
            "type": "object",
            "properties": {"value": _leaf(random), "next": {"anyOf": [own, {"type": "null"}]}},
            "required": ["value", "next"],
            "additionalProperties": False,
        }
    return {
        "anyOf": [
            _tagged("add", {"left": own, "right": own}),
            _tagged("number", {"value": {"type": "number"}}),
        ]
    }


def _tagged(tag: str, properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {"kind": {"const": tag}, **properties},
        "required": ["kind", *properties],
        "additionalProperties": False,
    }


def _any(random: Random, depth: int) -> Schema:
    if depth == 0 or random.random() < 0.4:
        return _leaf(random)
    kind = random.choice(["object", "array", "tuple", "anyOf"])
    if kind == "object":
        return _object(random, depth - 1)
    if kind == "anyOf":
        return {"anyOf": [_any(random, depth - 1) for _ in range(random.randint(2, 3))]}
    if kind == "tuple":
        items = [_any(random, depth - 1) for _ in range(2)]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": 2}
    least = random.randint(0, 2)
    array: Schema = {"type": "array", "items": _any(random, depth - 1), "minItems": least}
    if random.random() < 0.5:
        array["maxItems"] = least + random.randint(0, 3)
    return array


def _object(random: Random, depth: int) -> Schema:
    names = random.sample(["id", "name", "na", "größe", 'a"b', "tags", "x y"], random.randint(0, 4))
    schema: Schema = {
        "type": "object",
        "properties": {name: _any(random, depth - 1 if depth else 0) for name in names},
        "required": [name for name in names if random.random() < 0.6],
    }
    extra = random.choice([False, False, None, True, {"type": "integer"}])
    if extra is not None:
        schema["additionalProperties"] = extra
    return schema


def _leaf(random: Random) -> Schema:
    least = random.randint(-50, 50)
    return random.choice(
        [
            {"type": "string"},
            {"type": "string", "minLength": random.randint(0, 9), "maxLength": 9},
            {"type": "string", "pattern": random.choice(_PATTERNS)},
            {"type": "string", "format": random.choice(["date", "uuid", "ipv4"])},
            {"type": "integer"},
            {"type": "integer", "minimum": least, "maximum": least + random.randint(0, 2000)},
            {"type": "integer", "exclusiveMinimum": 10**6},
            {"type": "number"},
            {"type": "number", "minimum": 0.25, "maximum": 17},
            {"type": "boolean"},
            {"type": ["null", "integer", "string"]},
            {"enum": random.sample(_VALUES, 3)},
            {"const": random.choice(_VALUES)},
            {},
        ]
    )


Chooser = Callable[[np.ndarray], int]


def weighted(seed: int) -> Chooser:
    """Falling weights in a random order: a few tokens are far likelier than all others."""
    rng = np.random.default_rng(seed)

    def choose(allowed: np.ndarray) -> int:
        return int(rng.permutation(allowed)[min(rng.geometric(0.3), allowed.size) - 1])

    return choose


def opening(seed: int, texts: Sequence[bytes]) -> Chooser:
    """Mostly the token that begins most arrays, objects and strings at once."""
    rng = np.random.default_rng(seed)
    begun = np.array([sum(byte in b'{["' for byte in text) for text in texts])

    def choose(allowed: np.ndarray) -> int:
        if rng.random() < 0.2:
            return int(rng.choice(allowed))
        return int(allowed[np.argmax(begun[allowed] + rng.random(allowed.size) / 2)])

    return choose


def write(constraint: Constraint, choose: Chooser, most: int, eos: frozenset[int]) -> list[int]:
    """At most ``most`` tokens, each chosen from what ``constraint`` allows."""
    tokens = list[int]()
    for remaining in range(most, 0, -1):
        mask = constraint.allowed(remaining)
        assert mask is not None
        token = choose(np.flatnonzero(mask))
        constraint.accept(token)
        if token in eos:
            break
        tokens.append(token)
        if constraint.finished:
            break
    return tokens
