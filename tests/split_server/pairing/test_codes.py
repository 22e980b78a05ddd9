"""Pairing codes: short life, few tries, one use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from split_server.pairing.codes import FILE, LIFETIME, MAX_CODES, PairingCodes
from split_server.pairing.errors import StateUnusable
from split_server.pairing.state import StateFolder


@pytest.fixture
def codes(tmp_path: Path) -> PairingCodes:
    return PairingCodes(StateFolder(tmp_path))


def test_a_code_works_once(codes: PairingCodes) -> None:
    code = codes.make(0.0)
    assert codes.redeem(code, 1.0)
    assert not codes.redeem(code, 1.0)


def test_a_code_may_be_typed_in_small_letters_without_its_dash(codes: PairingCodes) -> None:
    code = codes.make(0.0).lower().replace("-", " ").replace("0", "o").replace("1", "l")
    assert codes.redeem(code, 1.0)


def test_a_code_expires(codes: PairingCodes) -> None:
    code = codes.make(0.0)
    assert not codes.redeem(code, LIFETIME)


def test_after_too_many_wrong_tries_every_code_is_void(
    codes: PairingCodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_server.pairing.codes.MAX_TRIES", 5)
    first, second = codes.make(0.0), codes.make(0.0)
    wrong = "ZZZZ-ZZZZ"
    assert wrong not in (first, second)
    for _ in range(5):
        assert not codes.redeem(wrong, 1.0)
    assert not codes.redeem(first, 1.0)
    assert not codes.redeem(second, 1.0)


def test_a_wrong_try_leaves_the_code_good(codes: PairingCodes) -> None:
    code = codes.make(0.0)
    assert not codes.redeem("ZZZZ-ZZZZ", 1.0)
    assert codes.redeem(code, 1.0)


def test_outstanding_codes_are_bounded_and_not_stored_as_they_are(tmp_path: Path) -> None:
    codes = PairingCodes(StateFolder(tmp_path))
    made = [codes.make(0.0) for _ in range(MAX_CODES + 1)]
    stored = (tmp_path / FILE).read_text()
    assert not any(code in stored or code.replace("-", "") in stored for code in made)
    assert not codes.redeem(made[0], 1.0)
    assert codes.redeem(made[-1], 1.0)


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    codes = PairingCodes(StateFolder(tmp_path))
    code = codes.make(0.0)
    (tmp_path / FILE).write_text('{"codes": [{"x": 1}]}')
    with pytest.raises(StateUnusable, match="damaged"):
        codes.redeem(code, 1.0)


@pytest.mark.parametrize(
    "document",
    [
        {"version": True, "codes": []},
        {"version": 1, "codes": [{"salt": 5, "digest": "x", "expires": 9, "tries": 0}]},
        {"version": 1, "codes": [{"salt": "s", "digest": "é", "expires": 9, "tries": 0}]},
        {"version": 1, "codes": [{"salt": "s", "digest": "x", "expires": "9", "tries": 0}]},
    ],
)
def test_what_this_program_never_writes_is_damage(tmp_path: Path, document: object) -> None:
    (tmp_path / FILE).write_text(json.dumps(document))
    with pytest.raises(StateUnusable, match="delete it"):
        PairingCodes(StateFolder(tmp_path)).redeem("AB12-CD34", 5.0)
