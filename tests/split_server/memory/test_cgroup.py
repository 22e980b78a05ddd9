"""Limits of control groups, read from folders that look like the kernel's."""

from __future__ import annotations

from pathlib import Path

from split_server.memory.cgroup import cgroup_free


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


def _own(tmp_path: Path, text: str) -> Path:
    own = tmp_path / "own"
    own.write_text(text + "\n")
    return own


def test_version_two_counts_the_page_cache_as_free(tmp_path: Path) -> None:
    stat = "anon 700\ninactive_file 100\nactive_file 50\nslab_reclaimable 10"
    root = tmp_path / "root"
    _write(root / "a/b", memory__max="1000", memory__current="900", memory__stat=stat)
    assert cgroup_free(root, _own(tmp_path, "0::/a/b")) == 1000 - 900 + 160


def test_the_nearest_of_all_groups_above_binds(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _write(root / "a", memory__max="500", memory__current="480", memory__stat="inactive_file 0")
    _write(root / "a/b", memory__max="1000", memory__current="100", memory__stat="inactive_file 0")
    assert cgroup_free(root, _own(tmp_path, "0::/a/b")) == 20


def test_groups_without_a_limit_bind_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _write(root / "a", memory__max="max", memory__current="480", memory__stat="inactive_file 0")
    assert cgroup_free(root, _own(tmp_path, "0::/a")) is None
    assert cgroup_free(root, tmp_path / "no such file") is None


def test_version_one_is_read_under_its_controller(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files = {"memory__usage_in_bytes": "900", "memory__stat": "total_inactive_file 30"}
    _write(root / "memory/x", memory__limit_in_bytes="1000", **files)
    _write(root / "memory", memory__limit_in_bytes="9223372036854771712", **files)
    assert cgroup_free(root, _own(tmp_path, "4:cpu,memory:/x\n1:cpu:/x")) == 130


def test_inside_a_container_the_mount_itself_is_the_group(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _write(root, memory__max="1000", memory__current="400", memory__stat="inactive_file 0")
    assert cgroup_free(root, _own(tmp_path, "0::/kubepods/pod1/container")) == 600


def test_a_full_group_leaves_nothing_rather_than_no_limit(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _write(root, memory__max="1000", memory__current="1000", memory__stat="inactive_file 0")
    assert cgroup_free(root, _own(tmp_path, "0::/")) == 0
