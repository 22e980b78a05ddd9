"""``/v1/cache/verify``: it passes where reuse is right, and fails where it is wrong or missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import split_server.kv_disk.writer
import split_server.sessions.keeping.copies
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import post, refused

PATH = "/v1/cache/verify"


def verified(server: RunningServer, **values: Any) -> dict[str, Any]:
    answer = post(server, PATH, **values)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_prompts_that_come_along_pass_and_leave_nothing(dtype: str) -> None:
    # Every step would be audited if these were not left out of it.
    with running_server(dtype=dtype, kv_audit=1.0) as server:
        found = verified(server)
        reuse = server.parts.steps.reuse
        assert reuse is not None
        assert len(reuse.pool) == 0
        assert len(server.parts.steps.store) == 0
    assert (found["ok"], found["problems"]) == (True, [])
    assert len(found["prompts"]) == 3
    for prompt in found["prompts"]:
        warm, parked = prompt["ways"]
        assert prompt["tokens"] - 16 <= warm["reused"] < prompt["tokens"]
        assert parked["reused"] == parked["positions"] - 1 == prompt["tokens"] + 7
        assert warm["difference"] <= found["bound"] / 4
        if dtype == "float32":
            assert warm["tokens_equal"]
            assert parked["tokens_equal"]


def test_a_context_that_is_shorter_than_what_comes_along_is_checked_to_its_end(
    tiny_path: Path,
) -> None:
    with running_server(tiny_path) as server:
        found = verified(server, tokens=4)
        context = server.parts.steps.info.max_context
    assert (found["ok"], found["problems"]) == (True, [])
    assert max(prompt["tokens"] for prompt in found["prompts"]) == context - 5


def test_every_family_passes(family_path: Path) -> None:
    ids = [11 + i % 60 for i in range(90)]
    with running_server(family_path) as server:
        assert verified(server, prompts=[ids], tokens=4)["problems"] == []


def test_what_lies_on_disk_is_checked_as_well_and_is_gone_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    with running_server(kv_disk=folder, state=tmp_path / "state") as server:
        found = verified(server, tokens=3)
        reuse = server.parts.steps.reuse
        assert reuse is not None
        assert reuse.disk is not None
        assert (len(reuse.pool), len(reuse.disk.index)) == (0, 0)
        assert reuse.taken["disk"] > 0
    assert (found["ok"], found["problems"]) == (True, [])
    for prompt in found["prompts"]:
        assert [way["way"] for way in prompt["ways"]] == ["warm", "parked", "disk"]
        assert prompt["tokens"] - 16 <= prompt["ways"][2]["reused"] < prompt["tokens"]
        assert prompt["ways"][2]["tokens_equal"]


def test_a_disk_that_holds_nothing_of_it_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_server.kv_disk.writer.Writer, "write", lambda _, **__: None)
    with running_server(kv_disk=tmp_path / "kv", state=tmp_path / "state") as server:
        found = verified(server, prompts=["What is split inference? " * 12], tokens=2)
    assert found["problems"] == ["prompt 1, disk: nothing was reused"]


@pytest.mark.parametrize("size", [1e-2, float("nan")])
def test_a_run_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    right = split_server.sessions.keeping.copies.copied

    def wrong(*arguments: Any, **options: Any) -> Any:
        slab = right(*arguments, **options)
        slab[0][0] += size * slab[0][0].norm()
        return slab

    monkeypatch.setattr(split_server.sessions.keeping.copies, "copied", wrong)
    with running_server() as server:
        found = verified(server)
    assert not found["ok"]
    assert all(any(way in told for told in found["problems"]) for way in ("warm", "parked"))


@pytest.mark.parametrize("settings", [{"kv_reuse": "off"}, {"kv_pool_bytes": 1000}], ids=str)
def test_it_fails_where_nothing_was_reused(settings: dict[str, Any]) -> None:
    with running_server(**settings) as server:
        found = verified(server, prompts=["What is split inference? " * 12], tokens=2)
    assert not found["ok"]
    assert found["problems"] == [
        "prompt 1, warm: nothing was reused",
        "prompt 1, parked: nothing was reused",
    ]


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"prompts": "text"}, "prompts"),
        ({"prompts": []}, "prompts"),
        ({"prompts": [1, 2]}, "prompts"),
        ({"prompts": ["a"] * 9}, "prompts"),
        ({"prompts": ["too short"]}, "prompts[0]"),
        ({"tokens": 65}, "tokens"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    open_server: RunningServer, values: dict[str, Any], param: str
) -> None:
    assert refused(post(open_server, PATH, **values), 400)["param"] == param
