"""A connected client for a command: notices on the screen, a token asked for where needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from split_client.api import SplitClient
from split_client.chat.verifying import Verify
from split_client.config.reply import ReplyConfig
from split_client.generation.head.head import HeadKind
from split_client.generation.speculation.wanted import DraftMemory
from split_client.noise.words import CALIBRATING_LINE
from split_client.terminal.input.redaction import redaction_from
from split_client.terminal.input.token import with_token
from split_client.terminal.noise import noise_from
from split_client.terminal.output.progress import ProgressBar
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import loading_line, size
from split_client.terminal.pair import own_token, paired_token
from split_client.terminal.sampling import SettingInvalid
from split_client.transport.channel import Loading, Mode, Reconnecting
from split_client.weights.manifest import Manifest
from split_wire.tiers import Cache

_TELL_EVERY = 8


@contextmanager
def connected(config: ReplyConfig, screen: Screen) -> Iterator[SplitClient]:
    """A client with its model pulled and open. Raises what connecting raises."""
    client = let_in(config, screen, lambda token: connect(config, token, screen))
    try:
        yield client
    finally:
        client.close()


def let_in(
    config: ReplyConfig, screen: Screen, attempt: Callable[[str | None], SplitClient]
) -> SplitClient:
    """The result of ``attempt`` with this device's token, or one that is typed where one is needed.

    Raises what ``attempt`` raises.
    """
    own = own_token(config.token, config.url)
    return with_token(own.text, screen, attempt, paired=own.paired)


def connect(config: ReplyConfig, token: str | None, screen: Screen) -> SplitClient:
    """The client of a command, connected with ``token``. Raises what connecting raises."""
    if config.masks and config.adapter_host is None:
        raise SettingInvalid("--masks are of an adapter host: give --adapter-host too")
    bar = ProgressBar(screen)
    client = SplitClient(
        config.url,
        model=config.model,
        token=token,
        cache=config.cache,
        transport=cast(Mode, config.transport),
        adapter=config.adapter,
        adapter_host=config.adapter_host,
        adapter_token=config.adapter_token or _host_token(config),
        masks=config.masks,
        lm_head=cast(HeadKind, config.lm_head),
        noise=noise_from(config),
        server_cache=cast(Cache, config.server_cache),
        cache_group=config.cache_group,
        share_until=config.share_until,
        blend=config.blend,
        verify=cast(Verify, config.verify),
        verify_share=config.verify_share,
        drafts=config.drafts,
        draft_memory=cast(DraftMemory, config.draft_memory),
        redact=redaction_from(config) or False,
        on_manifest=lambda manifest, stored: None if stored else announce(manifest, screen),
        on_progress=bar.update,
        on_prepare=lambda: _prepare(bar, screen),
        on_calibrate=lambda: _calibrate(bar, screen),
        on_notice=lambda notice: show_waiting(notice, screen),
    )
    try:
        client.connect(begin=True)
    finally:
        bar.close()
    try:
        for line in client.privacy_lines():
            screen.note(line)
    except BaseException:
        client.close()
        raise
    return client


def _host_token(config: ReplyConfig) -> str | None:
    """The token of an adapter host that this device is paired with."""
    return None if config.adapter_host is None else paired_token(config.adapter_host)


def _prepare(bar: ProgressBar, screen: Screen) -> None:
    bar.close()
    screen.note("preparing the LM head, once for this model; this takes some seconds")


def _calibrate(bar: ProgressBar, screen: Screen) -> None:
    bar.close()
    screen.note(CALIBRATING_LINE)


def announce(manifest: Manifest, screen: Screen) -> None:
    """Say what is about to be pulled and under which terms."""
    screen.note(
        f"pulling {one_line(manifest.name)} ({one_line(manifest.family)}, {size(manifest.size)})"
    )
    screen.note(f"licence: {licence(manifest)}")


def licence(manifest: Manifest) -> str:
    """The licence in one line."""
    return one_line(manifest.licence or "") or "not stated"


def show_waiting(notice: Reconnecting, screen: Screen) -> None:
    """Say why it waits: at once, and then once in a while."""
    if isinstance(notice, Loading):
        if notice.attempt % _TELL_EVERY == 0:
            screen.note(loading_line(notice))
        return
    if notice.attempt % _TELL_EVERY == 1:
        trying = "reconnecting" if notice.attempt == 1 else "still trying, Ctrl-C stops"
        screen.note(f"connection lost ({one_line(notice.reason, 50)}), {trying}")
