"""From settings to an adapter host: folders, packings, the count of queries."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import split_server
from split_client.owner_file import data_folder, make_folder, write_whole
from split_he.params import HE_AVAILABLE
from split_masks.errors import MasksError
from split_masks.ranges import RangeFile
from split_server.adapter_host.budget import QueryBudget, StateFile
from split_server.adapter_host.errors import HostUnusable
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.shapes import ckks_terms
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.adapters.folder import open_adapters
from split_server.serving.adapter_host.config import AdapterHostConfig

_log = logging.getLogger(__name__)
ACTIVATION_RMS = AdapterHostConfig().activation_rms
_RANGES = "host-masks.json"
EMBEDDED_ADAPTERS = Path(split_server.__file__).parent / "embedded" / "adapters"


def open_host(config: AdapterHostConfig) -> AdapterHost:
    """The host of the folder that ``config`` names; nothing is started yet.

    Raises AdaptersNotFound, AdapterUnusable, HostUnusable, HostStateUnusable.
    """
    folder = config.adapters or EMBEDDED_ADAPTERS
    left_out: list[AdapterUnusable] = []
    adapters = open_adapters(folder.expanduser(), None, leave_out=left_out.append)
    if not adapters:
        raise left_out[0] if left_out else HostUnusable(f"there is no adapter in {folder}")
    for unusable in left_out:
        _log.error("left out: %s", unusable)
    limits = HostLimits(
        workers=config.workers,
        sessions=config.max_sessions,
        sessions_per_principal=config.max_sessions_per_principal,
        ttl=config.session_ttl,
        masks_per_principal=config.max_masks,
    )
    return make_host(adapters, limits, config.query_budget, config.state, config.activation_rms)


def make_host(
    adapters: Mapping[str, AdapterFile],
    limits: HostLimits,
    query_budget: int,
    state: Path | None,
    activation_rms: float,
) -> AdapterHost:
    """A host of ``adapters``. Raises HostUnusable, HostStateUnusable."""
    if not HE_AVAILABLE:
        raise HostUnusable("encrypted adapters need tenseal; pip install 'gatelink[he]'")
    state = None if state is None else state.expanduser()
    budget = QueryBudget(query_budget, None if state is None else StateFile(state))
    try:
        ranges = _ranges(state) if limits.masks_per_principal else None
        return AdapterHost(
            adapters,
            lambda file: ckks_terms(file, activation_rms),
            budget,
            limits,
            ranges=ranges,
        )
    except BaseException as error:
        budget.close()
        if isinstance(error, MasksError):
            raise HostUnusable(str(error)) from error
        raise


def _ranges(state: Path | None) -> RangeFile | None:
    """Where the numbers of masks are written down: beside the counts, else in the data folder.

    None where there is no folder to write to: hosts without one go on without masks.
    """
    folder = state or data_folder()
    try:
        make_folder(folder)
    except OSError as error:
        _log.warning("no one-time masks, there is no folder for their numbers: %s", error)
        return None
    return RangeFile(folder / _RANGES, write_whole)
