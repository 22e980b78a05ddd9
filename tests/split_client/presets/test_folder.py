from __future__ import annotations

import stat
from pathlib import Path

import pytest

from split_client.presets.builtin import BUILTIN
from split_client.presets.errors import (
    PresetExists,
    PresetFailed,
    PresetNameInvalid,
    PresetUnknown,
)
from split_client.presets.folder import PresetFolder
from tests.pipes import pipe


@pytest.fixture
def folder(tmp_path: Path) -> PresetFolder:
    return PresetFolder(tmp_path / "presets")


def test_some_come_along(folder: PresetFolder) -> None:
    assert folder.text("@brief") == BUILTIN["brief"]
    presets, failed = folder.all()
    assert ([preset.name for preset in presets], failed) == (sorted(BUILTIN), [])
    assert all(text == text.strip() and len(text) < 300 for text in BUILTIN.values())


def test_other_texts_are_taken_as_they_are(folder: PresetFolder) -> None:
    assert folder.text("Be kind.") == "Be kind."
    assert folder.text("@@home you speak French.") == "@home you speak French."


def test_ones_own_hide_those_that_come_along(folder: PresetFolder) -> None:
    assert folder.save("@Brief", "Short.") == "brief"
    assert folder.text("@BRIEF") == "Short."
    assert [preset.own for preset in folder.all()[0] if preset.name == "brief"] == [True]
    assert stat.S_IMODE((folder.path / "brief.txt").stat().st_mode) == 0o600
    folder.delete("brief")
    assert folder.text("@brief") == BUILTIN["brief"]


def test_a_file_written_by_hand_is_a_preset(folder: PresetFolder) -> None:
    folder.path.mkdir()
    (folder.path / "poet.txt").write_text("Rhyme.\nAlways.\n")
    (folder.path / "README").write_text("x")
    assert folder.text("@poet") == "Rhyme.\nAlways."


def test_an_own_preset_is_not_lost_for_another(folder: PresetFolder) -> None:
    folder.save("poet", "Rhyme.")
    folder.save("poet", "Rhyme.")
    with pytest.raises(PresetExists, match="/preset delete poet"):
        folder.save("poet", "Do not rhyme.")
    assert folder.text("@poet") == "Rhyme."


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "ä", "-x", "x" * 41, "a\x00"])
def test_a_name_is_a_short_word(folder: PresetFolder, name: str) -> None:
    with pytest.raises(PresetNameInvalid):
        folder.save(name, "x")
    with pytest.raises(PresetNameInvalid):
        folder.delete(name)
    assert not folder.path.exists()


@pytest.mark.parametrize("name", ["coderr", "../../etc/passwd", "nothing-like-it", ""])
def test_one_that_is_not_there_is_told(folder: PresetFolder, name: str) -> None:
    with pytest.raises(PresetUnknown, match=r"@coder\?" if name == "coderr" else "/presets"):
        folder.text(f"@{name}")
    if name == "coderr":
        with pytest.raises(PresetUnknown):
            folder.delete(name)


@pytest.mark.parametrize("content", [b"\xff", b" \n", b"x" * (300 << 10)])
def test_a_damaged_file_is_named_and_the_others_listed(
    folder: PresetFolder, content: bytes
) -> None:
    folder.path.mkdir()
    (folder.path / "bad.txt").write_bytes(content)
    with pytest.raises(PresetFailed, match=r"bad\.txt"):
        folder.text("@bad")
    presets, failed = folder.all()
    assert (len(presets), len(failed)) == (len(BUILTIN), 1)


def test_a_pipe_among_them_is_told_and_not_waited_for(folder: PresetFolder) -> None:
    folder.path.mkdir()
    with pipe(folder.path / "poet.txt", b"Rhyme."):
        presets, failed = folder.all()
    assert [preset.name for preset in presets] == sorted(BUILTIN)
    assert [str(error).partition(": ")[2] for error in failed] == ["it is not a regular file"]
