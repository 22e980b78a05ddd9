"""The image: built by docker or buildah, run as its user, and a chat held through it."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from scripts.bench.fleet.replicas import free_port
from scripts.deploying.contained import BuildahServer, DockerServer, Server
from scripts.deploying.part import NotHere, PartFailed, passes, require
from scripts.deploying.talk import held_through
from scripts.paths import ROOT

IMAGE = "localhost/gatelink-check"
_BASE = "localhost/gatelink-check-base"
_DOCKERFILE = "deploy/Dockerfile"
_PACKAGES = "python3,python3-venv,ca-certificates"


def check(options: argparse.Namespace) -> str:
    """Raises PartFailed, NotHere."""
    server = _server()
    if server.program == "buildah":
        os.environ.update(BUILDAH_ISOLATION="chroot", STORAGE_DRIVER="vfs")
    base = _debootstrapped(options.debootstrap) if options.debootstrap else options.base
    said = _built(server.program, base, options.build_option)
    size = re.search(r"the image has (\d+) MB", said)
    if size is None:
        raise PartFailed("the build does not tell the image's size")
    port = free_port()
    with server.running(IMAGE, port) as running:
        text = held_through(f"http://127.0.0.1:{port}", running)
        if running.uid() != 10001:
            raise PartFailed(f"it runs as user {running.uid()}")
        if (status := running.stop()) != 0:
            raise PartFailed(f"after SIGTERM it ended with {status}")
    return f"{size[1]} MB by {server.program}, {len(text)} characters of a reply as generate's"


def _server() -> Server:
    """Whatever builds and runs images here. Raises NotHere."""
    if (
        shutil.which("docker")
        and not subprocess.run(["docker", "info"], capture_output=True).returncode
    ):
        return DockerServer()
    if shutil.which("buildah") and os.geteuid() == 0:
        return BuildahServer()
    raise NotHere("neither a docker daemon nor buildah as root is here")


def _built(program: str, base: str | None, further: list[str]) -> str:
    """What the build said. A base that cannot be pulled is not the Dockerfile's fault."""
    # Podman's tools drop the health check in their own format.
    form = [] if program == "docker" else ["--format", "docker"]
    given = [] if base is None else ["--build-arg", f"BASE={base}"]
    if base is None:
        _pulled(program)
    quiet = ["--progress", "plain"] if program == "docker" else []
    command = [program, "build", *form, *quiet, *given, *further, "-f", _DOCKERFILE, "-t", IMAGE]
    return passes([*command, "."], folder=ROOT)


def _pulled(program: str) -> None:
    (base,) = re.findall(r"^ARG BASE=(\S+)$", (ROOT / _DOCKERFILE).read_text(), re.MULTILINE)
    try:
        passes([program, "pull", f"docker.io/library/{base}"])
    except PartFailed as error:
        raise NotHere(
            f"the base image {base} cannot be pulled here; --debootstrap URL makes one"
        ) from error


def _debootstrapped(mirror: str) -> str:
    """A base from packages of Debian at ``mirror``, for a machine that reaches no registry."""
    require("debootstrap", "the package debootstrap")
    require("buildah", "the package buildah")
    if not subprocess.run(
        ["buildah", "inspect", "--type", "image", _BASE], capture_output=True
    ).returncode:
        return _BASE
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        options = ["--variant=minbase", f"--include={_PACKAGES}"]
        passes(["debootstrap", *options, "bookworm", str(root), mirror])
        (root / "usr/bin/python").symlink_to("python3")
        # Whoever checks certificates here is trusted there.
        for bundle in ("/etc/ssl/certs/ca-certificates.crt",):
            shutil.copy(bundle, root / bundle[1:])
        made = passes(["buildah", "from", "scratch"]).strip()
        passes(["buildah", "add", "-q", made, str(root), "/"])
        path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        passes(["buildah", "config", "--env", f"PATH={path}", made])
        passes(["buildah", "commit", "-q", "--rm", made, _BASE])
    return _BASE
