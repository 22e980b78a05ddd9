"""Parts of a server: what is served, made before anything listens or starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from split_server.adapter_host.host import AdapterHost
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.checkpoint.catalog import Catalog
from split_server.checkpoint.manifest import Manifest
from split_server.compat.kept.public import PublicPrompts
from split_server.compat.parts import Compat
from split_server.engine.streamed.layers import Stream
from split_server.http.original.protocol import OriginalProtocol
from split_server.http.web.files import WebFiles
from split_server.sessions.framed import FramedSessions
from split_server.sessions.step import StepAdmission


@dataclass(frozen=True, kw_only=True)
class Parts:
    """``steps``: the admission that ``framed`` and ``original`` sessions pass; ``memory`` reports
    on the process's memory, None where nothing plans it; ``reserved``: the share of the bytes for
    caches that is set aside; ``weights``: bytes of the matrices, ``held``: with those of caches;
    ``let_go`` has other models of the process count on them, once nothing of this one is used any
    more.

    ``compat``: what the OpenAI and Kobold APIs work with, None without them; ``adapters``: what
    steps may name in the clear, ``left_out``: folders that hold none for the model;
    ``adapter_host``: what computes them on ciphertexts; ``web``: the page for browsers;
    ``warm``: prompts that are kept for everybody; ``stream``: of layers that are read in each pass.
    """

    catalog: Catalog
    manifest: Manifest
    steps: StepAdmission
    framed: FramedSessions
    original: OriginalProtocol
    memory: Callable[[], dict[str, Any]] | None = None
    reserved: Callable[[], float] = lambda: 0.0
    weights: int = 0
    held: Callable[[], int] = lambda: 0
    let_go: Callable[[], None] = lambda: None
    compat: Compat | None = None
    adapters: Mapping[str, AdapterFile] = field(default_factory=dict)
    left_out: Sequence[AdapterUnusable] = ()
    adapter_host: AdapterHost | None = None
    web: WebFiles | None = None
    warm: PublicPrompts | None = None
    stream: Stream | None = None
