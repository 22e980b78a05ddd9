"""Parts that the routes of the compatible APIs work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from split_server.checkpoint.folder import Checkpoint
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import Generator
from split_server.compat.grammars.grammars import Grammars
from split_server.compat.texts import Texts


@dataclass(frozen=True, slots=True)
class Compat:
    """The ends, the generations, the texts and the grammars of one served model; ``kernels``: with
    what its attention and its matrix products are computed; ``name``: what it is called where that
    is not its checkpoint's own name.
    """

    checkpoint: Checkpoint
    local: LocalEnds
    generator: Generator
    texts: Texts
    grammars: Grammars
    kernels: Mapping[str, str]
    name: str | None = None

    def close(self) -> None:
        """End its processes and threads."""
        self.generator.close()
        self.texts.close()
        self.grammars.close()
        self.local.close()
