"""Declarations with every form of setting."""

from __future__ import annotations

from pathlib import Path

from split_settings import option, settings


def _even(text: str) -> int:
    if int(text) % 2:
        raise ValueError(f"{text} is odd")
    return int(text)


@settings("server.rooms")
class Room:
    name: str = option("", help="its name")
    seats: int | None = option(None, help="how many", minimum=1)


@settings("server")
class Example:
    host: str = option("127.0.0.1", help="address to listen on", metavar="HOST")
    port: int = option(8095, help="port", minimum=0, maximum=65535, group="network", short="-p")
    ttl: float = option(300.0, help="seconds; 100% of an idle session", minimum=1)
    auth: bool = option(True, help="ask for a token")
    open_door: bool = option(False, help="let anyone in")
    share: float = option(1.0, help="a part of the whole", above=0, maximum=1)
    dtype: str = option("auto", help="compute dtype", choices=("auto", "float32"))
    allow_origin: tuple[str, ...] = option((), help="an allowed origin", metavar="URL")
    model: Path | None = option(None, help="checkpoint folder")
    token: str | None = option(None, help="bearer token", secret=True)
    pin: int | None = option(None, help="number", secret=True)
    even: int = option(2, help="an even number", parse=_even)
    books: str | tuple[str, ...] | None = option(None, help="a book")
    rooms: tuple[Room, ...] = option((), help="rooms", tables=Room, instead_of="books")
    evens: tuple[int, ...] = option((), help="even numbers", parse=_even)


@settings("server")
class Other:
    depth: int = option(3, help="depth")
