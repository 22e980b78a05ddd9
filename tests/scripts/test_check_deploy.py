"""The check of what is shipped: what parts come to, and configurations put on another machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from scripts.deploying import serve
from scripts.deploying.part import NotHere, PartFailed, passes, require
from scripts.deploying.run import _ran
from scripts.deploying.shipped import (
    HAPROXY,
    SCALE,
    Ports,
    haproxy_config,
    nginx_config,
    nginx_sites,
)

_PORTS = [Ports(1, 11), Ports(2, 12), Ports(3, 13)]


def _fails(error: Exception) -> str:
    raise error


def test_a_part_is_green_or_failed_or_named_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ran("one", lambda: "three files")
    assert _ran("two", lambda: _fails(NotHere("no such program")))
    assert not _ran("three", lambda: _fails(PartFailed("line 7")))
    assert not _ran("four", lambda: _fails(KeyError("k")))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["green", "not", "FAILED", "FAILED"]
    assert lines[1].endswith("two: no such program")


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(NotHere, match=r"no-such-program .*the package x"):
        require("no-such-program", "the package x")


def test_a_program_that_complains_says_what() -> None:
    assert passes(["sh", "-c", "echo fine"]) == "fine\n"
    with pytest.raises(PartFailed, match=r"(?s)ended with 3.*line 7"):
        passes(["sh", "-c", "echo line 7 >&2; exit 3"])


def test_haproxys_file_keeps_all_but_its_places(tmp_path: Path) -> None:
    text = haproxy_config(HAPROXY.read_text(), "127.0.0.1:9", _PORTS, tmp_path)
    assert "    bind 127.0.0.1:9\n" in text
    assert "    server r03 127.0.0.1:3 check port 13\n" in text
    assert "    server r03 127.0.0.1:3 track sockets/r03\n" in text
    assert ":8101" not in text
    apart = ("bind", "server", "user", "group", "chroot", "log /", "stats")
    for line in HAPROXY.read_text().splitlines():
        if not line.strip().startswith(apart):
            assert f"{line}\n" in text


def test_nginxs_file_keeps_all_but_its_places(tmp_path: Path) -> None:
    (site,) = nginx_sites(SCALE)
    text = nginx_config(site, "127.0.0.1:9", _PORTS, tmp_path)
    assert "    listen 127.0.0.1:9;\n" in text
    assert text.count("max_fails=1 fail_timeout=2s;") == len(_PORTS)
    assert "ssl" not in text
    apart = ("listen", "server 127", "server_name", "ssl", "access_log")
    for line in site.splitlines():
        if not line.strip().startswith(apart):
            assert f"{line}\n" in text


@pytest.mark.parametrize("make", [haproxy_config, nginx_config])
def test_a_file_without_its_places_is_refused(make: object, tmp_path: Path) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match="has no line with"):
        make("global\n", "127.0.0.1:9", _PORTS, tmp_path)


class _Options(BaseModel):
    memory: float | None = None


class _Deployment(BaseModel):
    name: str
    options: _Options | None = None
    extra: dict[str, int] = {}


class _File(BaseModel):
    deployments: list[_Deployment]


def test_a_key_that_serve_would_pass_over_is_found_wherever_it_is() -> None:
    good = {"name": "a", "options": {"memory": 1}, "extra": {"anything": 1}}
    bad = {"name": "b", "nmae": 1, "options": {"memroy": 1}}
    assert list(serve.unknown_keys({"deployments": [good]}, _File)) == []
    found = list(serve.unknown_keys({"deployments": [good, bad], "apps": 1}, _File))
    assert found == ["deployments[1].nmae", "deployments[1].options.memroy", "apps"]


def test_rays_file_has_arguments_that_a_replica_takes() -> None:
    serve.require_settings(serve.document())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda app: app["args"].pop("memory_limit"), "memory_limit is missing"),
        (lambda app: app["args"].update(theads=1), "theads"),
        (lambda app: app["args"].update(token="x"), "token_file"),
        (lambda app: app["args"].update(memory_limit=1 << 40), "more than the memory"),
        (lambda app: app["deployments"][0].update(name="other"), "not other"),
    ],
)
def test_rays_file_is_refused_where_replicas_would_not_start_with_it(
    change: Callable[[dict[str, Any]], object], said: str
) -> None:
    found = serve.document()
    change(found["applications"][0])
    with pytest.raises(PartFailed, match=said):
        serve.require_settings(found)
