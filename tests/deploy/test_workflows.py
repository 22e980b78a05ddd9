"""Hosted CI, as far as this repository can tell: it runs what is there, from the lock."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / ".github" / "workflows"
_NAMES = sorted(path.name for path in _FOLDER.iterdir())


def _workflow(name: str) -> dict[Any, Any]:
    document = yaml.safe_load((_FOLDER / name).read_text())
    assert isinstance(document, dict)
    return document


def _steps(name: str) -> list[dict[str, Any]]:
    return [step for job in _workflow(name)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", _NAMES)
def test_what_a_workflow_runs_is_in_the_repository(name: str) -> None:
    commands = "\n".join(step.get("run", "") for step in _steps(name))
    for script in re.findall(r"(?:bash )?((?:scripts|\.ci)/[\w/]+)", commands):
        assert (_ROOT / script).is_file(), script
    # Nothing but the scripts installs packages, and those take the lock.
    assert not re.search(r"pip install|npm install", commands)


@pytest.mark.parametrize("name", _NAMES)
def test_a_workflow_may_only_read(name: str) -> None:
    assert _workflow(name)["permissions"] == {"contents": "read"}


def test_lock_audits_bills_and_images_are_looked_at_with_every_change_and_every_week() -> None:
    # YAML 1.1 reads the key "on" as true.
    triggers = _workflow("supply-chain.yml")[True]
    assert {"push", "pull_request", "schedule"} <= set(triggers)
    assert triggers["push"]["paths"] == triggers["pull_request"]["paths"]
    for path in triggers["push"]["paths"]:
        assert list(_ROOT.glob(path)), path
    commands = [step.get("run") for step in _steps("supply-chain.yml")]
    for command in ("lock --check", "audit bills", "base_image", "lock --upgrade"):
        assert f"bash scripts/{command}" in commands


def test_a_base_image_is_looked_up_before_it_is_built_on() -> None:
    steps = _workflow("supply-chain.yml")["jobs"]["image"]["steps"]
    commands = [step.get("run", "") for step in steps]
    build = next(i for i, command in enumerate(commands) if command.startswith("docker build"))
    assert commands.index("bash scripts/base_image") < build
