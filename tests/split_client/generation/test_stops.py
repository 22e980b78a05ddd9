from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.stops import StopFilter

_TEXT = st.text("ab\n", max_size=20)


def whole(text: str, stops: list[str]) -> str:
    """What should come through, found by looking at the whole text."""
    ends = [at for at in (text.find(stop) for stop in stops if stop) if at >= 0]
    return text[: min(ends)] if ends else text


@given(st.lists(_TEXT, max_size=8), st.lists(st.text("ab\n", max_size=4), max_size=3))
def test_pieces_are_cut_where_the_whole_text_is(pieces: list[str], stops: list[str]) -> None:
    # A stop string that is completed first wins; the pieces here come one character at a time.
    stop_filter = StopFilter(stops)
    shown = "".join(stop_filter.push(character) for character in "".join(pieces))
    shown += stop_filter.flush()
    text = "".join(pieces)
    firsts = [text.find(stop) + len(stop) for stop in stops if stop and stop in text]
    seen = text[: min(firsts)] if firsts else text
    assert shown == whole(seen, stops)
    assert stop_filter.stopped == bool(firsts)


def test_only_a_possible_beginning_is_held_back() -> None:
    stop_filter = StopFilter(["</end>"])
    assert [stop_filter.push(text) for text in ("a<", "/en", "b", "</", "end>c")] == [
        "a",
        "",
        "</enb",
        "",
        "",
    ]
    assert stop_filter.stopped
    assert stop_filter.flush() == ""


def test_what_was_held_back_comes_at_the_end() -> None:
    stop_filter = StopFilter(["###"])
    assert stop_filter.push("a##") == "a"
    assert stop_filter.flush() == "##"


def test_nothing_comes_after_a_stop() -> None:
    stop_filter = StopFilter(["x"])
    assert stop_filter.push("ax") == "a"
    assert stop_filter.push("more") == ""


def test_an_empty_stop_string_stops_nothing() -> None:
    assert StopFilter([""]).push("abc") == "abc"
