"""``split-relay``: settings, logging, signals, and the daemon between them."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from split_relay.banner import HTTP, banner, lan_hosts, reachable_urls
from split_relay.config import RelayConfig
from split_relay.daemon import Relay
from split_relay.errors import RelayError
from split_relay.limits import allow_descriptors
from split_settings import SettingsError, add_arguments, load
from split_settings.completion import add_completion, completion
from split_settings.output import while_read
from split_settings.qr_code import qr_code
from split_settings.version import add_version

logger = logging.getLogger("split_relay")
# A server that is up does so at once; the addresses wait that long for one that is not.
_ANSWERS_WITHIN = 2.0

_OPEN_WARNING = (
    "WARNING --open: nothing checks that the server asks for a token; if it asks for none, "
    "everybody who reaches this address can use it"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the relay; returns 0 after a clean stop, 1 when it cannot serve, 2 for bad settings."""
    return while_read(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    namespace = parser.parse_args(arguments)
    if namespace.command == "completion":
        print(completion(parser, namespace.shell), end="")
        return 0
    try:
        config = load(RelayConfig, namespace)
    except SettingsError as error:
        parser.error(str(error))
    _start_logging(config.quiet)
    try:
        asyncio.run(_run(config))
    except RelayError as error:
        print(f"split-relay: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="split-relay",
        description="Let phones on the local network reach a server that listens on this machine. "
        "Bytes pass through untouched. Beyond this machine the relay starts only if the server "
        "asks for a token.",
    )
    add_version(parser)
    add_completion(parser.add_subparsers(dest="command", metavar="[COMMAND]"))
    add_arguments(parser, RelayConfig)
    return parser


def _start_logging(quiet: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING if quiet else logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
    )


async def _run(config: RelayConfig) -> None:
    relay = Relay(config)
    stopping = asyncio.Event()
    _on_signals(relay, stopping)
    if not await _started(relay, stopping):
        return
    await _announce(relay, config, sys.stdout)
    await stopping.wait()
    await relay.stop()


def _on_signals(relay: Relay, stopping: asyncio.Event) -> None:
    """The first signal stops cleanly, the second drops what is still open."""

    def handle() -> None:
        if stopping.is_set():
            relay.abort()
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, handle)


async def _started(relay: Relay, stopping: asyncio.Event) -> bool:
    """Start the relay; false when a signal came first."""
    starting = asyncio.create_task(relay.start())
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if starting.done():
        starting.result()
        return True
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    return False


async def _announce(relay: Relay, config: RelayConfig, out: TextIO) -> None:
    fits = allow_descriptors(config.max_connections)
    if fits < config.max_connections:
        logger.warning("this system's limit on open files allows %d connections only", fits)
    if config.open and relay.beyond_loopback:
        logger.warning(_OPEN_WARNING)
    if config.quiet:
        return
    scheme = await relay.scheme(_ANSWERS_WITHIN)
    urls = reachable_urls(scheme or HTTP, relay.addresses, lan_hosts())
    print(banner(scheme, relay.addresses, urls, config.upstream), file=out)
    if config.qr and scheme and urls and _draws_blocks(out):
        print(qr_code(urls[0]), end="\n\n", file=out)
    print("  Ctrl-C stops the relay.", end="\n\n", file=out, flush=True)


def _draws_blocks(out: TextIO) -> bool:
    encoding = (out.encoding or "").lower().replace("-", "")
    return out.isatty() and encoding == "utf8" and os.environ.get("TERM") != "dumb"


if __name__ == "__main__":
    sys.exit(main())
