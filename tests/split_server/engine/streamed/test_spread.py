"""Which layers are read from disk."""

from __future__ import annotations

import pytest

from split_server.engine.streamed.spread import spread


@pytest.mark.parametrize("layers", [1, 2, 3, 24, 61])
def test_as_many_as_wanted_in_order_with_even_gaps(layers: int) -> None:
    for streamed in range(1, layers + 1):
        found = spread(layers, streamed)
        assert found == sorted(set(found))
        assert len(found) == streamed
        # The last one closes the circle to the first of the next pass.
        gaps = {b - a for a, b in zip(found, [*found[1:], found[0] + layers], strict=True)}
        assert max(gaps) - min(gaps) <= 1
