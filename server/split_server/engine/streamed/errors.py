"""The error of a pass whose layers do not come."""

from __future__ import annotations

from split_wire.errors import SplitError


class LayerUnreadable(SplitError):
    """A layer did not come from the disk, or not as it was written; nothing was computed with it.

    ``layer``: its number in the model. The log has the file.
    """

    code = "internal_error"
    status = 500

    def __init__(self, layer: int, reason: str) -> None:
        super().__init__(
            f"the server cannot read layer {layer} of the model from its disk ({reason}); try "
            "again later, and if it stays so, have the server started again"
        )
