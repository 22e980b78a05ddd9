"""The web app's choice of an adapter and its reading of their list, against the Python client's."""

from __future__ import annotations

import base64
import json
import unicodedata
from typing import Any

import numpy as np

from split_client.adapters.choice import AdapterInfo, _words, choose
from split_client.adapters.errors import AdapterListInvalid
from split_client.adapters.listing import parse_listing
from tests.web.generation_peers import ask


def _code_points() -> list[str]:
    """Letters younger than this Python's Unicode are what the browser's own makes of them."""
    points = map(chr, range(0x110000))
    return [point for point in points if unicodedata.category(point) not in {"Cs", "Cn"}]


def test_every_code_point_folds_and_parts_words_as_in_python() -> None:
    code_points = _code_points()
    assert len(code_points) > 280_000
    words = [f"a{character}b" for character in code_points]
    answer = ask("adapters/choose.js", {"folded": code_points, "words": words, "choices": []})
    pairs = zip(code_points, answer["folded"], answer["words"], strict=True)
    wrong = [
        hex(ord(character))
        for character, folded, parted in pairs
        if folded != character.casefold() or parted != _words(f"a{character}b")
    ]
    assert wrong == []


def _adapters(keyword_lists: list[list[str]]) -> list[AdapterInfo]:
    return [
        AdapterInfo(str(index), "", 1, 1, 1.0, tuple(keywords), encrypted=False)
        for index, keywords in enumerate(keyword_lists)
    ]


def _choices() -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    vocabulary = ["Straße", "STRASSE", "ΣΊΣΥΦΟΣ", "σίσυφος", "loan", "Loan-rate", "loan rate", "İ"]
    vocabulary += [
        "bank",
        "banking",
        "ﬁne",
        "fine",
        "fi",
        "",
        " ",
        "!",
        "3",
        "٣",
        "_",
        "a_b",
        "e\u0301",
    ]
    gaps = [" ", "", ", ", "-", "\n\n", "_", "\u00a0", "\u0301", "😀"]

    def text(most: int) -> str:
        parts = rng.choice(vocabulary, rng.integers(0, most))
        return "".join(str(part) + str(rng.choice(gaps)) for part in parts)

    return [
        {
            "text": text(12),
            "adapters": [[text(3) for _ in range(rng.integers(0, 5))] for _ in range(4)],
        }
        for _ in range(500)
    ]


def test_five_hundred_texts_choose_the_adapters_that_python_chooses() -> None:
    cases = _choices()
    cases.append({"text": "😀" * 49_997 + " bank", "adapters": [["ban"], ["bank"]]})
    answer = ask("adapters/choose.js", {"folded": [], "words": [], "choices": cases})
    chosen = [choose(case["text"], _adapters(case["adapters"])) for case in cases]
    expected = [-1 if adapter is None else int(adapter.name) for adapter in chosen]
    assert answer["choices"] == expected
    assert len(set(expected[:-1])) == 5
    assert expected[-1] == -1


GOOD: dict[str, Any] = {
    "name": "banking",
    "description": "a\u202eb\tc\u00a0\U000e0001 é😀",
    "rank": 8,
    "hidden_size": 64,
    "scale": 2,
    "keywords": ["loan", "Kredit"],
    "encrypted": True,
}
CHANGES: list[dict[str, Any]] = [
    {},
    {"name": "a.b-c_D9"},
    {"name": ".hidden"},
    {"name": "x" * 41},
    {"name": "new\n"},
    {"name": 3},
    {"rank": 0},
    {"rank": 65},
    {"rank": 1.5},
    {"rank": True},
    {"rank": "8"},
    {"hidden_size": 0},
    {"hidden_size": 65_537},
    {"hidden_size": None},
    {"scale": 10_000.5},
    {"scale": -10_000},
    {"scale": "1"},
    {"scale": True},
    {"scale": None},
    {"description": None},
    {"description": "😀" * 1_200},
    {"description": ["x"]},
    {"keywords": None},
    {"keywords": []},
    {"keywords": "loan"},
    {"keywords": ["x" * 200, "😀" * 200]},
    {"keywords": ["x" * 201]},
    {"keywords": ["😀" * 201]},
    {"keywords": [1]},
    {"keywords": ["x"] * 1_000},
    {"keywords": ["x"] * 1_001},
    {"encrypted": None},
    {"encrypted": 1},
    {"unknown": {"a": [1, {"b": None}]}},
    {"__proto__": 1, "constructor": 2, "": 3},
]


def _documents() -> list[bytes]:
    listed = [[{**GOOD, **change}] for change in CHANGES]
    listed += [[], [GOOD, GOOD], [{**GOOD, "name": f"n{i}"} for i in range(64)]]
    listed += [[{**GOOD, "name": f"n{i}"} for i in range(65)], [None], [[]], ["x"]]
    whole = [json.dumps({"adapters": entries}).encode() for entries in listed]
    good = json.dumps(GOOD)
    whole += [
        json.dumps(other).encode() for other in ({}, [], {"adapters": None}, {"adapters": {}})
    ]
    texts = [
        f'{{"adapters": [{good}], "adapters": []}}',
        '{"adapters": [' + good.replace('"rank": 8', '"rank": 8, "rank": 8') + "]}",
        '{"adapters": [' + good.replace('"rank": 8', '"rank": 8, "r\\u0061nk": 8') + "]}",
        '{"adapters": [' + good.replace("loan", 'a\\": b\\\\\\"') + "]}",
        '{"adapters": [' + good.replace('"scale": 2', '"scale": NaN') + "]}",
        '{"adapters": [' + good.replace('"scale": 2', '"scale": 1e999') + "]}",
        '\ufeff{"adapters": []}',
        '{"adapters": []} x',
        '{"adapters": [' + "[" * 3000 + "]" * 3000 + "]}",
        '{"other": "' + "," * 20_001 + '", "adapters": []}',
        '{"other": "' + "," * 19_990 + '", "adapters": []}',
        '{ "adapters" :\n [ ] , "a:b" : "c\\\\" , "d" : ": \\"e\\": " }',
        "",
    ]
    return whole + [text.encode() for text in texts] + [b'{"adapters": [], "x": "\xff"}']


def _expected(document: bytes) -> Any:
    try:
        adapters = parse_listing(document)
    except AdapterListInvalid as error:
        return {"code": error.code}
    return [
        {
            "name": adapter.name,
            "description": adapter.description,
            "rank": adapter.rank,
            "hiddenSize": adapter.hidden_size,
            "scale": adapter.scale,
            "keywords": list(adapter.keywords),
            "encrypted": adapter.encrypted,
        }
        for adapter in adapters
    ]


def test_lists_are_read_and_refused_as_python_does() -> None:
    documents = _documents()
    request = {"documents": [base64.b64encode(document).decode() for document in documents]}
    answers = ask("adapters/list.js", request)
    expected = [_expected(document) for document in documents]
    for document, answer, wanted in zip(documents, answers, expected, strict=True):
        assert answer == wanted, document[:200]
    refused = sum(isinstance(wanted, dict) for wanted in expected)
    assert 30 < refused < len(expected) - 10
