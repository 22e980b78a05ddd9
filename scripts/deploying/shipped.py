"""The shipped configurations of balancers, with addresses of another machine put in their places.

Everything but addresses, files and the user stays as it is shipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.paths import ROOT

HAPROXY = ROOT / "deploy" / "haproxy.cfg"
SCALE = ROOT / "docs" / "scale.md"
_INDENT = "    "


class Ports(NamedTuple):
    """Of a replica on this machine: ``port`` for devices, ``ops`` for checks and figures."""

    port: int
    ops: int


def haproxy_config(
    text: str, listen: str, replicas: Sequence[Ports], folder: Path, certificate: Path | None = None
) -> str:
    """HAProxy's file ``text`` for a process of this user's that listens on ``listen``.

    ``folder``: of its socket; ``certificate``: PEM with its key, None: without TLS. Raises
    ValueError where ``text`` has no replicas or does not listen.
    """
    tls = "" if certificate is None else f" ssl crt {certificate}"
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(r"\s+(user|group|chroot|log /dev/log) ?", line):
            continue
        if line.startswith(f"{_INDENT}bind "):
            alpn = " alpn http/1.1" if certificate else ""
            lines.append(f"{_INDENT}bind {listen}{tls}{alpn}")
        elif line.startswith(f"{_INDENT}stats socket "):
            lines.append(f"{_INDENT}stats socket {admin_socket(folder)} mode 600 level admin")
        elif line.startswith(f"{_INDENT}server r01 "):
            lines += [_haproxy_server(line, n, one) for n, one in enumerate(replicas, 1)]
        elif not line.startswith(f"{_INDENT}server "):
            lines.append(line)
    _require(lines, "HAProxy", "bind ", "server r01 ")
    return "\n".join(lines) + "\n"


def admin_socket(folder: Path) -> Path:
    """Where HAProxy answers whoever started it."""
    return folder / "admin.sock"


def nginx_config(
    site: str, listen: str, replicas: Sequence[Ports], folder: Path, certificate: Path | None = None
) -> str:
    """A whole file of nginx around the ``site``, for a process of this user's.

    ``folder``: of its files; ``certificate``: PEM with its key, None: without TLS. Raises
    ValueError where ``site`` has no replicas or does not listen.
    """
    lines: list[str] = []
    for line in site.splitlines():
        if found := re.match(r"(\s*)listen ", line):
            lines.append(f"{found[1]}listen {listen}{' ssl' if certificate else ''};")
        elif re.match(r"\s*server_name ", line):
            continue
        elif re.match(r"\s*ssl_certificate", line):
            lines += [] if certificate is None else [f"{line.split()[0]} {certificate};"]
        elif found := re.match(r"(\s*)access_log \S+ ?(.*);", line):
            lines.append(f"{found[1]}access_log {folder}/access.log {found[2]};")
        elif re.match(r"\s*server 127\.0\.0\.1:8101 ", line):
            lines += [re.sub(r":8101 ", f":{one.port} ", line) for one in replicas]
        elif not re.match(r"\s*server 127\.0\.0\.1:", line):
            lines.append(line)
    _require(lines, "nginx", "listen ", "ssl_certificate" if certificate else "listen ")
    return _NGINX.format(folder=folder, site="\n".join(lines))


def nginx_sites(document: Path) -> list[str]:
    """The configurations of nginx that a page of the documentation shows."""
    return re.findall(r"^```nginx\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


_NGINX = """\
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{site}
}}
"""


def _haproxy_server(line: str, number: int, ports: Ports) -> str:
    """The line of replica ``number``, as that of the first one is."""
    named = line.replace("r01", f"r{number:02}")
    return named.replace(":8101", f":{ports.port}").replace(" port 9101", f" port {ports.ops}")


def _require(lines: Sequence[str], program: str, *beginnings: str) -> None:
    stripped = [line.strip() for line in lines]
    if missing := [one for one in beginnings if not any(x.startswith(one) for x in stripped)]:
        raise ValueError(f"the configuration of {program} has no line with {missing[0]!r}")
