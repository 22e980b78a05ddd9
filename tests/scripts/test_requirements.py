"""The lock as it is committed: versions and hashes alone, for everything the project asks for."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.locking import torch_builds
from scripts.locking.parts import EXTRAS, GROUPS, NAMES, TORCH, TORCH_CPU, Pin, parse

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "requirements"
_TEXTS = {path.stem: path.read_text() for path in sorted(_FOLDER.iterdir())}
_PROJECT: dict[str, Any] = tomllib.loads((_ROOT / "pyproject.toml").read_text())


def _wanted(part: str) -> list[str]:
    if part == "base":
        return list(_PROJECT["project"]["dependencies"])
    if part in EXTRAS:
        return list(_PROJECT["project"]["optional-dependencies"][part])
    return list(_PROJECT["dependency-groups"][part])


def _pins(*parts: str) -> dict[str, Pin]:
    return {pin.name: pin for part in parts for pin in parse(_TEXTS[part])}


def test_there_is_a_file_for_each_part_and_no_other() -> None:
    assert sorted(_TEXTS) == sorted(NAMES)
    assert set(EXTRAS) == set(_PROJECT["project"]["optional-dependencies"])
    assert set(GROUPS) == set(_PROJECT["dependency-groups"])


@pytest.mark.parametrize("part", NAMES)
def test_a_part_has_pinned_requirements_with_hashes_and_no_address(part: str) -> None:
    text = _TEXTS[part]
    # No option (--index-url, --find-links, -r), no URL and no path, of any scheme.
    assert not re.search(r"://|^\s*-(?!-hash=sha256:)|\s-[a-z]|@|file:", text, re.MULTILINE)
    assert not re.search(r"--(?!hash=sha256:[0-9a-f]{64}\b)", text)
    assert not re.search(r"\b[\w-]+\.(org|com|net|io|dev)\b", text)
    assert all(pin.hashes for pin in parse(text))


@pytest.mark.parametrize("part", ["base", *EXTRAS, *GROUPS])
def test_what_the_project_asks_for_is_locked_within_its_ranges(part: str) -> None:
    beside = [] if part in GROUPS else ["base", TORCH]
    pins = _pins(*beside, part)
    for text in _wanted(part):
        requirement = Requirement(text)
        pin = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin.version), text


def test_parts_that_are_installed_together_agree() -> None:
    together = ["base", *EXTRAS, "build"]
    for torch in (TORCH, TORCH_CPU):
        found = sorted(
            ((pin.name, pin.version) for part in [*together, torch] for pin in parse(_TEXTS[part])),
        )
        for name, versions in itertools.groupby(found, key=lambda pin: pin[0]):
            assert len({version for _, version in versions}) == 1, name


def test_the_builds_of_torch_are_named_by_platform() -> None:
    (plain,) = (pin for pin in parse(_TEXTS[TORCH]) if pin.name == "torch")
    wheels = re.findall(r"^# (torch-\S+\.whl)$", _TEXTS[TORCH], re.MULTILINE)
    assert len(wheels) == len(plain.hashes)
    for python, platform in itertools.product(
        ("cp311", "cp312", "cp313", "cp314"),
        ("macosx_14_0_arm64", "manylinux_2_28_aarch64", "manylinux_2_28_x86_64"),
    ):
        assert f"torch-{plain.version}-{python}-{python}-{platform}.whl" in wheels
    builds = torch_builds.kept(_TEXTS[TORCH_CPU], plain.version)
    assert set(builds).isdisjoint(wheels)


def test_only_the_build_of_the_package_index_brings_cuda() -> None:
    names = {part: {pin.name for pin in parse(text)} for part, text in _TEXTS.items()}
    cuda = {
        name for name in names[TORCH] if name.startswith(("nvidia-", "cuda-")) or name == "triton"
    }
    assert cuda
    assert all(cuda.isdisjoint(names[part]) for part in NAMES if part != TORCH)
    assert names[TORCH_CPU] == names[TORCH] - cuda


def test_a_library_user_gets_ranges() -> None:
    texts = [text for part in ("base", *EXTRAS) for text in _wanted(part)]
    assert not [text for text in texts if "==" in text.partition(";")[0]]
