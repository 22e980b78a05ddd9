"""Reading the folder of the built web app."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from split_server.http.web import files as web_files
from split_server.http.web.files import WebRootUnusable, open_web_files, read_web_files
from tests.web_folder import web_folder


def test_every_file_has_its_path_and_type(tmp_path: Path) -> None:
    files = read_web_files(web_folder(tmp_path))
    types = {path: file.media_type for path, file in files.by_path.items()}
    assert types == {
        "/": "text/html; charset=utf-8",
        "/pair": "text/html; charset=utf-8",
        f"/app/{files.build}/app.js": "text/javascript; charset=utf-8",
        f"/app/{files.build}/app.css": "text/css; charset=utf-8",
        f"/app/{files.build}/kernels.wasm": "application/wasm",
        "/service-worker.js": "text/javascript; charset=utf-8",
        "/manifest.webmanifest": "application/manifest+json",
        "/icons/icon.png": "image/png",
    }


def test_pages_and_the_service_worker_name_the_build_and_other_files_stay(tmp_path: Path) -> None:
    folder = web_folder(tmp_path)
    files = read_web_files(folder)
    assert f"/app/{files.build}/app.js".encode() in files.by_path["/"].content
    assert files.build.encode() in files.by_path["/service-worker.js"].content
    script = files.by_path[f"/app/{files.build}/app.js"]
    assert script.content == (folder / "app/app.js").read_bytes()


def test_a_change_of_any_byte_or_name_is_another_build(tmp_path: Path) -> None:
    folder = web_folder(tmp_path)
    builds = {read_web_files(folder).build}
    (folder / "icons/icon.png").write_bytes(b"another icon")
    builds.add(read_web_files(folder).build)
    (folder / "app/app.js").rename(folder / "app/main.js")
    builds.add(read_web_files(folder).build)
    assert len(builds) == 3
    assert read_web_files(folder).build in builds


def test_what_compresses_is_kept_compressed_and_what_does_not_is_not(tmp_path: Path) -> None:
    files = read_web_files(web_folder(tmp_path))
    script = files.by_path[f"/app/{files.build}/app.js"]
    assert script.gzip is not None
    assert gzip.decompress(script.gzip) == script.content
    assert len(script.gzip) < len(script.content)
    assert files.by_path["/icons/icon.png"].gzip is None


def test_what_the_build_has_compressed_goes_with_its_file(tmp_path: Path) -> None:
    folder = web_folder(tmp_path)
    (folder / "app/app.js.br").write_bytes(b"short")
    (folder / "app/kernels.wasm.br").write_bytes(bytes(1 << 20))
    files = read_web_files(folder)
    assert files.by_path[f"/app/{files.build}/app.js"].brotli == b"short"
    assert files.by_path[f"/app/{files.build}/kernels.wasm"].brotli is None
    assert not any(path.endswith(".br") for path in files.by_path)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "app/other.js.br",
        "app/data.unknown",
        "weights/manifest.json",
        "api/v1/pair.json",
        "app.js",
    ],
)
def test_a_file_without_a_place_is_refused(name: str, tmp_path: Path) -> None:
    folder = web_folder(tmp_path)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("x")
    with pytest.raises(WebRootUnusable, match=name):
        read_web_files(folder)


def test_names_with_a_dot_in_front_are_left_out(tmp_path: Path) -> None:
    folder = web_folder(tmp_path)
    build = read_web_files(folder).build
    (folder / ".DS_Store").write_text("x")
    (folder / "app/.cache").mkdir()
    (folder / "app/.cache/app.js").write_text("x")
    assert read_web_files(folder).build == build


def test_links_to_files_are_followed_and_a_linked_folder_within_is_told(tmp_path: Path) -> None:
    folder = web_folder(tmp_path / "real")
    build = read_web_files(folder).build
    (tmp_path / "root").symlink_to(folder)
    assert read_web_files(tmp_path / "root").build == build
    (folder / "app/app.js").rename(tmp_path / "kept.js")
    (folder / "app/app.js").symlink_to(tmp_path / "kept.js")
    assert read_web_files(folder).build == build
    (folder / "icons").rename(tmp_path / "kept")
    (folder / "icons").symlink_to(tmp_path / "kept")
    with pytest.raises(WebRootUnusable, match="icons is a link to a folder"):
        read_web_files(folder)


def test_a_folder_of_something_else_is_not_walked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walked(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Path, "rglob", walked)
    with pytest.raises(WebRootUnusable, match=r"no index\.html"):
        read_web_files(tmp_path)


def test_a_home_that_is_nobodys_is_told() -> None:
    with pytest.raises(WebRootUnusable, match="home"):
        open_web_files("~nobody-of-this-name/web")


def test_too_much_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = web_folder(tmp_path)
    monkeypatch.setattr(web_files, "MAX_BYTES", 1000)
    with pytest.raises(WebRootUnusable, match="over"):
        read_web_files(folder)
    monkeypatch.setattr(web_files, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(web_files, "MAX_FILES", 3)
    with pytest.raises(WebRootUnusable, match="over 3 files"):
        read_web_files(folder)


def test_folders_without_files_are_bounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = web_folder(tmp_path)
    monkeypatch.setattr(web_files, "MAX_FILES", 20)
    for number in range(60):
        (folder / f"app/{number}").mkdir()
    with pytest.raises(WebRootUnusable, match="over 20 files"):
        read_web_files(folder)


def test_a_folder_that_is_missing_or_empty_is_told(tmp_path: Path) -> None:
    with pytest.raises(WebRootUnusable, match="no such folder"):
        open_web_files(str(tmp_path / "nowhere"))
    with pytest.raises(WebRootUnusable, match=r"index\.html"):
        open_web_files(str(tmp_path))


def test_none_and_an_installation_without_the_app_serve_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_web_files("none") is None
    monkeypatch.setattr(web_files, "SHIPPED", tmp_path / "nowhere")
    assert open_web_files(None) is None
    monkeypatch.setattr(web_files, "SHIPPED", web_folder(tmp_path))
    shipped = open_web_files(None)
    assert shipped is not None
    assert "/" in shipped.by_path
