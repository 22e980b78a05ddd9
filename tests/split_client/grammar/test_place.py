import pytest

from split_client.grammar.place import Place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"", Place()),
        (b"12", Place(run=2)),
        (b"{", Place((b"",), naming=True)),
        (b'{"a', Place((b"",), naming=True, word=b"a", run=1, quoted=True)),
        (b'{"a"', Place((b"",), naming=True, word=b"a", run=2)),
        (b'{"a":', Place((b"a",))),
        (b'{"a":"b', Place((b"a",), run=1, quoted=True)),
        (b'{"a":1,', Place((b"a",), naming=True)),
        (b'{"a":[1,[],"x\\', Place((b"a", 2), run=2, quoted=True, escaped=True)),
        (b'["\\"{[,:', Place((0,), run=6, quoted=True)),
        (b'[{"a":1}', Place((0,))),
        (b'[{"a":1},tr', Place((1,), run=2)),
    ],
)
def test_a_place_tells_what_is_open(text: bytes, place: Place) -> None:
    assert Place().after(text) == place


def test_parts_lead_where_the_whole_does() -> None:
    text = b'{"a\\"":[1.5,"x",{"b":null}],"c":"\xc3\xbc"}'
    for cut in range(len(text)):
        assert Place().after(text[:cut]).after(text[cut:]) == Place().after(text)
        assert not Place().after(text[: cut + 1]).closed or cut + 1 == len(text)


def test_only_what_lies_outside_of_everything_is_closed() -> None:
    assert Place().after(b'{"a":[]}').closed
    assert not Place().after(b"[[]").closed
    assert not Place().after(b'"}').closed


def test_of_long_keys_the_beginning_is_kept() -> None:
    assert Place().after(b'{"' + b"k" * 500).word == b"k" * 64
