"""Routes of ``split.v1``: steps, streams, weights."""
