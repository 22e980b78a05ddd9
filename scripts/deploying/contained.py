"""A server in a container: docker's, or buildah's, which shares the network."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator

import psutil

from scripts.bench.fleet.replicas import TOKEN
from scripts.deploying.part import passes

_END_SECONDS = 60.0
_INSIDE = 8095


class Running(ABC):
    """One that was started."""

    @abstractmethod
    def ended(self) -> bool:
        """Whether it is gone."""

    @abstractmethod
    def uid(self) -> int:
        """Of the server's process."""

    @abstractmethod
    def stop(self) -> int:
        """SIGTERM; its exit status."""

    @abstractmethod
    def output(self) -> str:
        """What it wrote."""


class Server(ABC):
    """How to run the image."""

    program: str

    @abstractmethod
    def running(self, image: str, port: int) -> contextlib.AbstractContextManager[Running]:
        """The server on ``port`` of 127.0.0.1; it is gone afterwards."""


class DockerServer(Server):
    """By its daemon."""

    program = "docker"

    @contextlib.contextmanager
    def running(self, image: str, port: int) -> Iterator[Running]:
        published = ["-p", f"127.0.0.1:{port}:{_INSIDE}", "--memory", "4g", "--read-only"]
        folders = [
            "--tmpfs",
            "/tmp",  # noqa: S108 (the container's)
            "-v",
            "/var/lib/gatelink",
            "-v",
            "/var/cache/gatelink",
        ]
        token = ["-e", f"SPLIT_SERVER_TOKEN={TOKEN}"]
        name = passes(["docker", "run", "-d", *published, *folders, *token, image]).strip()
        try:
            yield _InDocker(name)
        finally:
            subprocess.run(["docker", "rm", "-f", "-v", name], capture_output=True)


class _InDocker(Running):
    def __init__(self, name: str) -> None:
        self._name = name

    def ended(self) -> bool:
        return self._state("{{.State.Running}}") != "true"

    def uid(self) -> int:
        return psutil.Process(int(self._state("{{.State.Pid}}"))).uids().real

    def stop(self) -> int:
        passes(["docker", "stop", "-t", "30", self._name])
        return int(self._state("{{.State.ExitCode}}"))

    def output(self) -> str:
        return passes(["docker", "logs", self._name])

    def _state(self, form: str) -> str:
        return passes(["docker", "inspect", "--format", form, self._name]).strip()


class BuildahServer(Server):
    """In a chroot, on this machine's network."""

    program = "buildah"

    @contextlib.contextmanager
    def running(self, image: str, port: int) -> Iterator[Running]:
        name = passes(["buildah", "from", image]).strip().splitlines()[-1]
        # Nothing publishes a port here, so the server listens where the chat looks.
        own = {"TOKEN": TOKEN, "HOST": "127.0.0.1", "PORT": str(port)}
        given = [
            word for key, one in own.items() for word in ("--env", f"SPLIT_SERVER_{key}={one}")
        ]
        process = subprocess.Popen(
            ["buildah", "run", *given, name, "--", "split-server", "serve"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield _InBuildah(process)
        finally:
            for one in _family(process):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait()
            subprocess.run(["buildah", "rm", name], capture_output=True)


class _InBuildah(Running):
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ended(self) -> bool:
        return self._process.poll() is not None

    def uid(self) -> int:
        return _family(self._process)[-1].uids().real

    def stop(self) -> int:
        _family(self._process)[-1].send_signal(signal.SIGTERM)
        return self._process.wait(_END_SECONDS)

    def output(self) -> str:
        self._process.kill()
        return self._process.communicate(timeout=_END_SECONDS)[0]


def _family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """buildah's process and all below it, the server last."""
    with contextlib.suppress(psutil.NoSuchProcess):
        own = psutil.Process(process.pid)
        return [own, *own.children(recursive=True)]
    return []
