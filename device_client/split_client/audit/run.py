"""``split-client audit``: what a server learns, measured at a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from split_client.api import SplitClient
from split_client.audit.arguments import AuditRequest
from split_client.audit.device.modes import Mode, clear_modes, noised_modes
from split_client.audit.device.prompts import built_in_prompts, built_in_questions, read_prompts
from split_client.audit.effort import FULL, QUICK
from split_client.audit.errors import OutputFailed
from split_client.audit.figures import ModeFigures, figures
from split_client.audit.reach import Reach
from split_client.audit.report.document import document
from split_client.audit.report.plot import draw, require_matplotlib
from split_client.audit.report.table import lines
from split_client.audit.whole import Audited, Material, audit
from split_client.config import ConnectionConfig
from split_client.model.ends import DeviceEnds
from split_client.terminal.input.token import with_token
from split_client.terminal.output.progress import ProgressBar
from split_client.terminal.output.screen import Screen
from split_client.terminal.pair import own_token
from split_client.transport.channel import Mode as Carrier
from split_client.transport.endpoint import Endpoint

_QUICK_SIGMAS = (0.1, 0.3)


def run_audit(config: ConnectionConfig, request: AuditRequest, screen: Screen) -> bool:
    """Audit the server; whether no claim was found untrue. Raises the client's errors."""
    _require_writable(request)
    given = None if request.prompts is None else read_prompts(request.prompts)
    effort = QUICK if request.quick else FULL
    material = Material(given or built_in_prompts(), built_in_questions())
    with _reached(config, screen) as (client, server):
        modes = _modes(client.ends, request)
        found = audit(client.ends, server, modes, material, effort, request.seed, screen.note)
        digest = client.manifest.digest
    shown = summed_up(found, request.seed)
    for line in lines(shown, found.extraction):
        screen.line(line)
    made = document(digest, request.seed, effort, shown, found.extraction)
    _save(request, made, screen)
    return bool(made["holds"])


def summed_up(found: Audited, seed: int) -> list[ModeFigures]:
    """The figures of every mode."""
    first = found.studied[0].tallies["nearest"]
    return [figures(one, [tally.tokens for tally in first], seed) for one in found.studied]


def _modes(ends: DeviceEnds, request: AuditRequest) -> list[Mode]:
    if not request.quick:
        return clear_modes(ends) + noised_modes(ends, request.epsilons)
    return clear_modes(ends)[:1] + noised_modes(ends, request.epsilons, _QUICK_SIGMAS)


@contextmanager
def _reached(config: ConnectionConfig, screen: Screen) -> Iterator[tuple[SplitClient, Reach]]:
    own = own_token(config.token, config.url)
    client, server = with_token(
        own.text, screen, lambda token: _connect(config, token, screen), paired=own.paired
    )
    try:
        yield client, server
    finally:
        client.close()


def _connect(
    config: ConnectionConfig, token: str | None, screen: Screen
) -> tuple[SplitClient, Reach]:
    bar = ProgressBar(screen)
    carrier = cast(Carrier, config.transport)
    client = SplitClient(
        config.url, token=token, cache=config.cache, transport=carrier, on_progress=bar.update
    )
    try:
        client.connect()
    finally:
        bar.close()
    return client, Reach(Endpoint.parse(config.url), token, carrier)


def _require_writable(request: AuditRequest) -> None:
    """Let fail at once what would fail after minutes of work."""
    for path in (request.json, request.plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise OutputFailed(str(path), "its folder does not exist")
    if request.plot is not None:
        require_matplotlib()


def _save(request: AuditRequest, made: dict[str, Any], screen: Screen) -> None:
    if request.json is not None:
        text = json.dumps(made, indent=1) + "\n"
        try:
            request.json.write_text(text, "utf-8")
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OutputFailed(str(request.json), reason) from error
        screen.note(f"figures: {request.json}")
    if request.plot is not None:
        draw(made, request.plot)
        screen.note(f"picture: {request.plot}")
