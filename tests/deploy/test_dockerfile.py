"""The image's description agrees with this repository, which is all that can be checked of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from split_server.serving.config import ServerConfig

_ROOT = Path(__file__).parents[2]
_TEXT = (_ROOT / "deploy" / "Dockerfile").read_text()
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text())


def _instructions(name: str) -> list[str]:
    joined = _TEXT.replace("\\\n", " ")
    return [
        line.removeprefix(name).strip() for line in joined.splitlines() if line.startswith(name)
    ]


def test_what_is_copied_exists_and_is_let_into_the_build() -> None:
    ignored = (_ROOT / ".dockerignore").read_text().splitlines()
    copied = [
        source
        for line in _instructions("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    assert len(copied) == 8
    for source in copied:
        assert (_ROOT / source).exists(), source
        assert f"!{source}" in ignored
    packages = _PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {package.partition("/")[0] for package in packages} <= set(copied)


def test_every_package_comes_from_the_lock_with_hashes() -> None:
    installs = [line for line in _instructions("RUN") if "pip install" in line]
    assert installs
    *locked, last = installs
    assert all("--require-hashes" in line for line in locked)
    assert last.endswith("pip install --no-deps --no-build-isolation .")
    named = {Path(name).stem for line in locked for name in re.findall(r"requirements/\S+", line)}
    assert named == {"base", "server", "build", "${TORCH}"}
    (torch,) = re.findall(r"^ARG TORCH=(\S+)$", _TEXT, re.MULTILINE)
    assert (_ROOT / "requirements" / f"{torch}.txt").is_file()


def test_both_stages_stand_on_one_image_whose_python_the_project_runs_on() -> None:
    (image,) = re.findall(r"^ARG BASE=(\S+)$", _TEXT, re.MULTILINE)
    found = re.fullmatch(r"python:([\d.]+)-slim(@sha256:[0-9a-f]{64})?", image)
    assert found is not None
    least = _PROJECT["project"]["requires-python"].removeprefix(">=")
    assert tuple(map(int, found[1].split("."))) >= tuple(map(int, least.split(".")))
    assert [line.split()[0] for line in _instructions("FROM")] == ["${BASE}"] * 2


def test_it_runs_without_root() -> None:
    user = _TEXT.index("\nUSER 10001")
    assert user > _TEXT.rindex("\nFROM")
    assert user < _TEXT.index("\nENTRYPOINT")
    assert not re.search(r"^USER (root|0)", _TEXT, re.MULTILINE)


def test_its_settings_exist() -> None:
    names = re.findall(r"SPLIT_SERVER_([A-Z_]+)=", _TEXT)
    assert names
    for name in names:
        assert name.lower() in ServerConfig.__dataclass_fields__
    assert f"EXPOSE {ServerConfig().port}\n" in _TEXT


def test_a_build_that_took_the_wrong_torch_fails_by_its_size() -> None:
    (most,) = re.findall(r"^ARG MAX_MB=(\d+)$", _TEXT, re.MULTILINE)
    assert int(most) == 2500
    measured = next(line for line in _instructions("RUN") if "MAX_MB" in line)
    assert measured.endswith('&& test "${used}" -le "${MAX_MB}"')
    # Behind the copy of all that is large.
    assert _TEXT.index("ARG MAX_MB") > _TEXT.index("COPY --from=build")


def test_its_user_is_made_without_a_warning() -> None:
    made = next(line for line in _instructions("RUN") if "useradd" in line)
    assert "--system" not in made
    assert "groupadd --gid 10001" in made
