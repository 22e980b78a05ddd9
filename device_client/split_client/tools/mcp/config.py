"""Which MCP servers: as typed, or from a file in the usual form with ``mcpServers``."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from split_client.owner_file import reason
from split_client.tools.commands import split_command
from split_client.tools.errors import ToolsInvalid
from split_client.tools.mcp.http import HttpChannel
from split_client.tools.mcp.messages import Channel
from split_client.tools.mcp.stdio import StdioChannel
from split_files import DocumentInvalid, parse_document, read_regular

MOST_SERVERS: Final = 16
_MAX_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_URL: Final = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One server: a program's ``words`` with ``environ``, or else a ``url`` with ``headers``."""

    name: str
    words: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """What it is, in words; neither headers nor variables."""
        return shlex.join(self.words) if self.url is None else self.url

    def channel(self) -> Channel:
        """The way to it, which is to be closed. Raises McpError."""
        if self.url is not None:
            return HttpChannel(self.name, self.url, self.headers)
        return StdioChannel(self.name, self.words, self.environ)


def typed_server(text: str) -> Wanted:
    """``NAME=COMMAND`` or ``NAME=URL``. Raises ToolsInvalid."""
    name, separator, what = text.partition("=")
    if not separator or not _NAME.fullmatch(name):
        raise ToolsInvalid(f"--mcp {text[:64]}", "it is not NAME=COMMAND or NAME=URL")
    if _URL.match(what):
        return Wanted(name, url=what)
    return Wanted(name, tuple(split_command(what)))


def servers_in(path: Path) -> tuple[Wanted, ...]:
    """The servers of a file. Raises ToolsInvalid."""
    where = str(path)
    try:
        document = parse_document(read_regular(path, _MAX_BYTES))
    except OSError as error:
        raise ToolsInvalid(where, reason(error)) from error
    except DocumentInvalid as error:
        raise ToolsInvalid(where, str(error)) from error
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise ToolsInvalid(where, "it has no object 'mcpServers'")
    return tuple(_server(name, given, f"{where}: {name[:64]}") for name, given in servers.items())


def _server(name: str, given: Any, where: str) -> Wanted:
    if not _NAME.fullmatch(name):
        raise ToolsInvalid(where, "the name of a server is 1 to 32 letters, digits, _ and -")
    match given:
        case {"url": str(url)} if _URL.match(url):
            return Wanted(name, url=url, headers=_texts(given.get("headers"), where))
        case {"command": str(command)}:
            arguments = given.get("args", [])
            if not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
                raise ToolsInvalid(where, "its 'args' are no list of texts")
            found = shutil.which(command)
            if found is None:
                raise ToolsInvalid(where, f"there is no program {command[:80]!r}")
            return Wanted(name, (found, *arguments), _texts(given.get("env"), where))
    raise ToolsInvalid(where, "it has neither a 'command' nor an http 'url'")


def _texts(given: Any, where: str) -> dict[str, str]:
    if given is None:
        return {}
    texts = isinstance(given, dict) and all(isinstance(value, str) for value in given.values())
    if not texts:
        raise ToolsInvalid(where, "its 'env' or 'headers' are no map of texts")
    return dict(given)
