"""Which rows of known chunks are taken, and in which splices."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.documents.plan import planned
from split_client.generation.editing.plan import SEAM
from split_wire.documents.chunks import Chunk, Named
from split_wire.splice import end_of, spans_field, spans_value


@st.composite
def known(draw: st.DrawFn) -> list[Named]:
    at, found = draw(st.integers(0, 900)), list[Named]()
    for number in range(draw(st.integers(0, 9))):
        rows = draw(st.integers(64, 1024))
        found.append(Named(Chunk(at, rows), bytes([number]) * 16))
        at += rows + draw(st.sampled_from([0, 0, 5, 300, 1500]))
    return found


@given(known(), st.integers(0, 400), st.integers(100, 9000), st.integers(64, 512), st.booleans())
def test_every_known_row_behind_the_seams_is_taken_in_splices_that_a_server_takes(
    chunks: list[Named], start: int, limit: int, most: int, whole: bool
) -> None:
    position, taken = start, list[int]()
    for take in planned(start, chunks, limit, most, whole=whole):
        assert take.start >= position
        brought = sum(map(len, take.parts))
        assert 1 <= brought <= most
        blend = 0.1 if whole else 0.0
        spans = spans_field(
            spans_value(take.spans), take.start, brought, blend, sources=take.sources
        )
        assert take.end == end_of(take.start, spans, brought, blend)
        own = {at for part in take.parts for at in part}
        for index, span in enumerate(spans):
            places = range(span.new, span.new + span.rows)
            assert whole or not own.intersection(places)
            taken += places
            # Where a row lies in its chunk is where it lies in the text.
            name = take.sources[16 * index : 16 * index + 16]
            [chunk] = [each.chunk for each in chunks if each.name == name]
            assert span.new - chunk.start == span.old
        position = take.end
    wanted = list[int]()
    for each in chunks:
        places = range(each.chunk.start + SEAM, min(each.chunk.end, limit))
        if each.chunk.start >= start and len(places) >= 24:
            wanted += places
    assert taken == wanted


def test_what_is_far_is_computed_up_to_its_seam_first() -> None:
    chunks = [Named(Chunk(1000, 100), b"a" * 16), Named(Chunk(1100, 64), b"b" * 16)]
    [take] = planned(0, chunks, 5000, 512)
    assert (take.start, take.end, take.takes, take.missing) == (1000, 1164, 148, 16)
    [near] = planned(600, chunks, 5000, 512)
    assert (near.start, near.missing) == (600, 416)
