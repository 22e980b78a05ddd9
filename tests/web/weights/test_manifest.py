"""The web app reads the manifests that the Python client reads, and refuses what it refuses."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from split_client.errors import ManifestInvalid
from split_client.weights.manifest import parse_manifest
from tests.split_client.weights.offers import DOCUMENT, document, encoded
from tests.split_client.weights.test_manifest import _WRONG
from tests.web.browsing import node

REPOSITORY = Path(__file__).parents[3]


def mutated(random: Random, document: Any) -> Any:
    """The document with one value, anywhere in it, replaced by another kind of value."""
    paths = list(_paths(document))
    path = random.choice(paths)
    changed = copy.deepcopy(document)
    target = changed
    for step in path[:-1]:
        target = target[step]
    value = target[path[-1]]
    candidates = [None, True, 0, 1, -1, 2**31, 10**12, 0.5, 1e300, "", "x", "f16", "../x", [], {}]
    candidates += [[value], {"a": value}, [0, 1], {"eos_token": None}, "tokenizer.json", 64, 1100]
    target[path[-1]] = random.choice(candidates)
    return changed


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in items:
        yield (*path, step)
        if isinstance(inner, dict | list):
            yield from _paths(inner, (*path, step))


def test_manifests_are_read_and_refused_as_by_the_python_client() -> None:
    random = Random(6)  # noqa: S311
    wrong = [document(**changes) for changes in _WRONG]
    documents = [DOCUMENT, *wrong, *(mutated(random, DOCUMENT) for _ in range(3000))]
    data = [encoded(one) for one in documents]
    command = [node(), str(REPOSITORY / "web/test/tools/parse_manifests.js")]
    sent = json.dumps([base64.b64encode(one).decode() for one in data])
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=True)
    for ours, one in zip(json.loads(done.stdout), data, strict=True):
        try:
            theirs = parse_manifest(one)
        except ManifestInvalid:
            # JavaScript has one kind of number: 64.0 is 64 there.
            assert ours is None or b".0" in one, one
            continue
        assert ours is not None, one
        assert ours["digest"] == theirs.digest
        assert ours["size"] == theirs.size
        assert set(ours["eosTokenIds"]) == theirs.eos_token_ids
        assert ours["specialTokens"] == theirs.special_tokens
        assert ours["generation"] == theirs.generation
        assert ours["head"]["logitScale"] == theirs.head.logit_scale
        assert ours["embedding"] == dataclasses.asdict(theirs.embedding)
        assert [file["name"] for file in ours["files"]] == [file.name for file in theirs.files]
