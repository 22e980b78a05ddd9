"""Making the lock, but for what uv and the index of torch answer."""

from __future__ import annotations

import pytest

from scripts.locking.parts import Pin, added, parse, render
from scripts.locking.torch_builds import BuildsUnknown, in_page, kept, notes, pin, wheel_names

_ONE = Pin("one", "1.0", None, ("1" * 64,))
_TWO = Pin("two", "2.0rc1", "sys_platform == 'linux' and (a or b)", ("2" * 64, "3" * 64))
_BUILDS = {name: f"{number:064x}" for number, name in enumerate(wheel_names("2.13.0"))}


def test_what_is_rendered_is_parsed_as_it_was() -> None:
    assert parse(render([_ONE, _TWO], ("a note",))) == [_ONE, _TWO]


@pytest.mark.parametrize(
    "line",
    [
        "one==1.0",
        "one>=1.0 --hash=sha256:" + "1" * 64,
        "--index-url x",
        "-r base.txt",
        "one @ https://x --hash=sha256:" + "1" * 64,
        "one==1.0 --hash=md5:" + "1" * 32,
    ],
)
def test_anything_but_a_pin_with_hashes_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a pinned requirement with hashes"):
        parse(line + "\n")


def test_a_part_holds_what_is_not_in_the_base_in_the_same_way() -> None:
    everywhere = Pin(_TWO.name, _TWO.version, None, _TWO.hashes)
    assert added([_ONE, _TWO], [_ONE, everywhere]) == [_TWO]
    assert (_TWO.on_linux_alone, everywhere.on_linux_alone) == (True, False)


def test_builds_of_torch_are_found_on_the_page_of_their_index() -> None:
    links = [
        f'<a href="/whl/cpu/{name.replace("+", "%2B")}#sha256={digest}" data-x="y">{name}</a>'
        for name, digest in _BUILDS.items()
    ]
    other = f'<a href="torch-2.12.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl#sha256={"f" * 64}">'
    assert in_page("\n".join([other, *links]), "2.13.0") == _BUILDS
    with pytest.raises(BuildsUnknown, match="the index has no"):
        in_page("\n".join(links[1:]), "2.13.0")


def test_builds_stay_as_long_as_the_version_does() -> None:
    text = render([_ONE, pin("2.13.0", _BUILDS)], ("Torch:", *notes(_BUILDS)))
    assert kept(text, "2.13.0") == _BUILDS
    with pytest.raises(BuildsUnknown, match=r"no builds of torch 2\.14\.0\+cpu; set TORCH_INDEX"):
        kept(text, "2.14.0")


def test_a_name_whose_hash_is_not_the_one_that_is_pinned_is_no_build() -> None:
    text = render([pin("2.13.0", _BUILDS)], notes(_BUILDS))
    with pytest.raises(BuildsUnknown):
        kept(text.replace(f"# {0:064x}", f"# {9:064x}"), "2.13.0")
