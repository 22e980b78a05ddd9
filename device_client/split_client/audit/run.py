"""``split-client audit``: what a server learns, measured at a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from split_client.api import SplitClient
from split_client.audit.allowance import Allowance
from split_client.audit.arguments import AuditRequest
from split_client.audit.device.modes import Mode, clear_modes, noised_modes
from split_client.audit.device.prompts import (
    Prompt,
    built_in_prompts,
    built_in_questions,
    built_in_tasks,
    read_prompts,
)
from split_client.audit.effort import FULL, QUICK, Effort
from split_client.audit.errors import OutputFailed, TimeTooShort
from split_client.audit.figures import ModeFigures, figures
from split_client.audit.layout import Material, Other
from split_client.audit.reach import Reach
from split_client.audit.report.document import document
from split_client.audit.report.plot import draw, require_matplotlib
from split_client.audit.report.table import lines
from split_client.audit.whole import Audited, Time, audit
from split_client.config.connection import ConnectionConfig
from split_client.model.ends import DeviceEnds
from split_client.noise.calibration import Calibration, Table, calibrate
from split_client.noise.words import CALIBRATING_LINE
from split_client.terminal.connect import show_waiting
from split_client.terminal.input.token import with_token
from split_client.terminal.output.progress import ProgressBar
from split_client.terminal.output.screen import Screen
from split_client.terminal.pair import own_token
from split_client.transport.channel import Mode as Carrier
from split_client.weights.store import ModelStore

_QUICK_SIGMAS = (0.005, 0.01, 0.02, 0.1, 0.3)
# The embedded model's name in its manifest: only it was trained on the questions.
_EMBEDDED = "gatelink-demo"
# What is left of the time for figures and pictures.
_REPORT = 0.05


def run_audit(config: ConnectionConfig, request: AuditRequest, screen: Screen) -> bool:
    """Audit the server; whether no claim was found untrue. Raises the client's errors."""
    _require_writable(request)
    given = None if request.prompts is None else read_prompts(request.prompts)
    effort = _effort(request)
    time = _time(request.minutes)
    with _reached(config, screen) as (client, server), _language(config, request, screen) as other:
        material = _material(given, client.manifest.name)
        modes = _modes(client.ends, _calibrated(client, config, screen), request)
        seed, tell = request.seed, screen.note
        found = audit(client.ends, server, modes, material, effort, seed, tell, time, other)
        digest = client.manifest.digest
    if time.minutes is not None and not any(one.messages for one in found.studied):
        raise TimeTooShort(time.minutes)
    shown = summed_up(found, request.seed)
    for line in lines(shown, found, effort):
        screen.line(line)
    made = document(digest, request.seed, effort, shown, found)
    _save(request, made, screen)
    return bool(made["holds"])


def summed_up(found: Audited, seed: int) -> list[ModeFigures]:
    """The figures of every mode."""
    return [figures(one, found.messages, seed) for one in found.studied]


def _effort(request: AuditRequest) -> Effort:
    effort = QUICK if request.quick else FULL
    if request.single:
        effort = effort.on_one_sending()
    if request.language is not None:
        effort = effort.with_another_model()
    return effort if request.beam is None else effort.followed(request.beam)


def _time(minutes: float | None) -> Time:
    """Counted from now on, before anything is loaded."""
    if minutes is None:
        return Time()
    return Time(Allowance(60.0 * minutes * (1.0 - _REPORT)), minutes)


def _material(given: Sequence[Prompt] | None, model: str) -> Material:
    tasks = () if model == _EMBEDDED else built_in_tasks()
    return Material(given or built_in_prompts(), built_in_questions(), tasks)


def _calibrated(client: SplitClient, config: ConnectionConfig, screen: Screen) -> Calibration:
    """The numbers of noise that a chat with this model has, and they are kept for it."""
    ends, stored = client.ends, ModelStore(config.cache).find(client.manifest.digest)
    table = Table.of(ends.manifest, lambda ids: ends.embedder.lookup(ids, "f32"))
    with TemporaryDirectory() as nowhere:
        folder = Path(nowhere) if stored is None else stored.folder
        return calibrate(table, None, folder, lambda: screen.note(CALIBRATING_LINE))


def _modes(ends: DeviceEnds, calibration: Calibration, request: AuditRequest) -> list[Mode]:
    if request.parts:
        return noised_modes(ends, calibration, (), request.parts)
    if not request.quick:
        return clear_modes(ends) + noised_modes(ends, calibration, request.epsilons)
    noised = noised_modes(ends, calibration, request.epsilons, _QUICK_SIGMAS)
    return clear_modes(ends)[:1] + noised


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


@contextmanager
def _language(
    config: ConnectionConfig, request: AuditRequest, screen: Screen
) -> Iterator[Other | None]:
    """The other language model, without a token: it is the attacker's own."""
    if request.language is None:
        yield None
        return
    client, server = _connect(replace(config, url=request.language, model=None), None, screen)
    try:
        yield Other(client.ends, server)
    finally:
        client.close()


def _connect(
    config: ConnectionConfig, token: str | None, screen: Screen
) -> tuple[SplitClient, Reach]:
    bar = ProgressBar(screen)
    carrier = cast(Carrier, config.transport)
    client = SplitClient(
        config.url,
        model=config.model,
        token=token,
        cache=config.cache,
        transport=carrier,
        on_progress=bar.update,
        on_notice=lambda notice: show_waiting(notice, screen),
    )
    try:
        client.connect()
    finally:
        bar.close()
    return client, Reach(client.endpoint, token, carrier)


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
