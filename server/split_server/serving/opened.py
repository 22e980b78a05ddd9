"""What a server is made of on disk, opened and checked before torch is imported.

Importing torch and transformers takes seconds, which nobody waits for who named a wrong folder.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.adapters.served import served_adapters
from split_server.checkpoint.catalog import Catalog, build_catalog
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.http.web.files import WebFiles, open_web_files
from split_server.serving.config import ServerConfig
from split_server.serving.engines.checkpoint import open_for
from split_server.serving.settings.given_models import only_model

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Opened:
    """``catalog`` and ``manifest``: what devices fetch of ``checkpoint``; ``adapters``: those that
    belong to it, but for those that were ``left_out``; ``web``: the page, None without one.
    """

    checkpoint: Checkpoint
    catalog: Catalog
    manifest: Manifest
    adapters: Mapping[str, AdapterFile]
    left_out: Sequence[AdapterUnusable]
    web: WebFiles | None


def open_all(config: ServerConfig) -> Opened:
    """Read and hash what ``config`` names, after a download where that is a hub's.

    Raises the errors of ``split_server.errors``, BadValue where ``config`` has several models.
    """
    config = only_model(config)
    web = open_web_files(config.web_root, config.adapter_origin)
    checkpoint = open_for(config)
    catalog = build_catalog(checkpoint)
    manifest = build_manifest(checkpoint, catalog)
    hidden_size, left_out = manifest.document["hidden_size"], list[AdapterUnusable]()
    adapters = served_adapters(config.adapters, checkpoint, hidden_size, left_out.append)
    for unusable in left_out:
        _log.error("left out: %s", unusable)
    return Opened(
        checkpoint=checkpoint,
        catalog=catalog,
        manifest=manifest,
        adapters=adapters,
        left_out=left_out,
        web=web,
    )
