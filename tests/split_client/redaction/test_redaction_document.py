from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from split_client.redaction.document import RedactionDocument, document_in
from split_client.redaction.errors import RedactionMapInvalid
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings

SETTINGS = RedactionSettings(regions=("DE",), names=("Anna Schmidt",))
REDACTOR = Redactor(SETTINGS, bytes(range(32)))
REDACTOR.redacted("ANNA, 0170 1234567, DE89 3704 0044 0532 0130 00, a@b.example, Hauptstraße 12")
SAVED = RedactionDocument(
    True, SETTINGS, REDACTOR.secret, tuple(REDACTOR.entries), (("Dear Anna", "Dear X"),)
)
GIVEN: dict[str, Any] = json.loads(json.dumps(SAVED.as_dict()))


def test_a_map_is_read_as_it_was_written() -> None:
    assert document_in(GIVEN) == SAVED


def _changed(change: str, value: object) -> dict[str, Any]:
    given = copy.deepcopy(GIVEN)
    *path, last = change.split(".")
    place: Any = given
    for step in path:
        place = place[int(step) if step.isdecimal() else step]
    place[int(last) if last.isdecimal() else last] = value
    return given


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {},
        _changed("version", 2),
        _changed("version", True),
        _changed("secret", "00"),
        _changed("secret", "x" * 64),
        _changed("kinds", ["pets"]),
        _changed("regions", ["XX"]),
        _changed("names", [3]),
        _changed("entries", [["given"]]),
        _changed("entries", "no"),
        _changed("entries.0.0", "pet"),
        _changed("entries.0.3", "Anna"),
        _changed("entries.0.2", "Bert"),
        _changed("entries.1.3", "+49 1701234567"),
        _changed("entries.2.1", "x"),
        _changed("entries.1", GIVEN["entries"][0]),
        _changed("replies", [["a"]]),
        _changed("replies", [["a", 1]]),
        _changed("entries", GIVEN["entries"] * 5000),
    ],
)
def test_a_map_that_somebody_changed_is_refused(given: object) -> None:
    with pytest.raises(RedactionMapInvalid) as refused:
        document_in(given)
    assert refused.value.code == "redaction_map_invalid"


def test_no_value_stands_for_itself() -> None:
    # A secret is tried until a name is its own surrogate.
    for number in range(2000):
        other = Redactor(SETTINGS, number.to_bytes(32, "big"))
        other.redacted("Johanna is here.")
        (entry,) = other.entries
        assert entry.surrogate != "Johanna"
