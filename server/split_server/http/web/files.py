"""The files of the built web app: read once and within bounds, named by a hash of them all."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import split_server
from split_server.errors import ServerError

SHIPPED = Path(split_server.__file__).parent / "web_app"
NONE = "none"
MAX_FILES = 256
MAX_BYTES = 16 << 20
# Of files, folders and what is left out.
_ENTRIES_FOR_EACH_FILE = 2
ENTRY = "index.html"
SERVICE_WORKER = "service-worker.js"
_PLACEHOLDER = b"%BUILD%"
# Pages and the service worker keep their addresses and name the build that they belong to.
_PAGES = {ENTRY: "/", "pair.html": "/pair"}
_NAMING_THE_BUILD = (*_PAGES, SERVICE_WORKER)
LICENCES = "licences.txt"
_AT_THE_ROOT = (SERVICE_WORKER, "manifest.webmanifest", "favicon.ico", LICENCES)
_TEXT = "; charset=utf-8"
_MEDIA_TYPES = {
    ".html": "text/html" + _TEXT,
    ".js": "text/javascript" + _TEXT,
    ".css": "text/css" + _TEXT,
    ".txt": "text/plain" + _TEXT,
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_BUILD_LENGTH = 16
# NAME.br is NAME compressed (RFC 7932), put there by the build.
_BROTLI = ".br"


class WebRootUnusable(ServerError):
    """The folder of the web app is missing, incomplete, too large or holds something else."""

    code = "web_root_unusable"

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"the web app in {folder} cannot be served: {reason}; build it with "
            f"'node web/build.mjs', or leave it out with --web-root {NONE}"
        )


@dataclass(frozen=True, slots=True)
class WebFile:
    """``gzip``, ``brotli``: the compressed content, None where that is no smaller or there is none.

    ``etag``: without quotes.
    """

    content: bytes
    gzip: bytes | None
    brotli: bytes | None
    media_type: str
    etag: str
    immutable: bool


@dataclass(frozen=True, slots=True)
class WebFiles:
    """``by_path``: what each path of a request is answered with."""

    build: str
    by_path: Mapping[str, WebFile]


def open_web_files(root: str | None, served_with: Sequence[str] = ()) -> WebFiles | None:
    """The app in the folder ``root``; None: what comes along, which may be nothing.

    ``served_with``: what its headers depend on. Browsers keep files of a build with their headers,
    so that with others it is another build. Raises WebRootUnusable.
    """
    if root == NONE:
        return None
    if root is None and not SHIPPED.is_dir():
        return None
    folder = SHIPPED if root is None else _expanded(Path(root))
    return read_web_files(folder, served_with)


def _expanded(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError as error:
        raise WebRootUnusable(folder, "nobody has such a home folder") from error


def read_web_files(folder: Path, served_with: Sequence[str] = ()) -> WebFiles:
    """Raises WebRootUnusable."""
    try:
        contents = _contents(folder)
    except OSError as error:
        raise WebRootUnusable(folder, error.strerror or "it cannot be read") from error
    build = _build(contents, served_with)
    by_path: dict[str, WebFile] = {}
    for name, content in contents.items():
        if name.removesuffix(_BROTLI) in contents and name.endswith(_BROTLI):
            continue
        path, media_type = _path(name, build), _MEDIA_TYPES.get(Path(name).suffix)
        if path is None or media_type is None:
            raise WebRootUnusable(folder, f"{name} is no file of the app")
        if name in _NAMING_THE_BUILD:
            content = content.replace(_PLACEHOLDER, build.encode())
        brotli = contents.get(name + _BROTLI)
        by_path[path] = web_file(content, media_type, brotli, immutable=name.startswith("app/"))
    return WebFiles(build, by_path)


def web_file(
    content: bytes, media_type: str, brotli: bytes | None = None, *, immutable: bool = False
) -> WebFile:
    """``content`` with its digest and its compressed forms; ``brotli`` is made by the build."""
    return WebFile(
        content,
        _compressed(content),
        brotli if brotli is not None and len(brotli) < len(content) else None,
        media_type,
        hashlib.sha256(content).hexdigest()[:32],
        immutable,
    )


@lru_cache(MAX_FILES)
def _compressed(content: bytes) -> bytes | None:
    """Once for all servers of a process: it takes most of the time in which the files are read."""
    compressed = gzip.compress(content, 9, mtime=0)
    return compressed if len(compressed) < len(content) else None


def _contents(folder: Path) -> dict[str, bytes]:
    """By their names below ``folder``, sorted; names that begin with a dot are not the app's."""
    if not folder.is_dir():
        raise WebRootUnusable(folder, "there is no such folder")
    # Asked first, because some other folder may take long to walk through.
    if not (folder / ENTRY).is_file():
        raise WebRootUnusable(folder, f"it has no {ENTRY}")
    contents: dict[str, bytes] = {}
    room = MAX_BYTES
    for name in _names(folder):
        with (folder / name).open("rb") as opened:
            content = opened.read(room + 1)
        room -= len(content)
        if room < 0 or len(contents) == MAX_FILES:
            raise _too_much(folder)
        contents[name] = content
    return contents


def _names(folder: Path) -> list[str]:
    """Of the files, sorted. Raises WebRootUnusable."""
    found: list[str] = []
    for seen, file in enumerate(folder.rglob("*"), start=1):
        if seen > _ENTRIES_FOR_EACH_FILE * MAX_FILES:
            raise _too_much(folder)
        relative = file.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts):
            continue
        if file.is_dir() and file.is_symlink():
            # What is in there would be left out.
            raise WebRootUnusable(folder, f"{relative} is a link to a folder")
        if file.is_file():
            found.append(relative.as_posix())
    return sorted(found)


def _too_much(folder: Path) -> WebRootUnusable:
    return WebRootUnusable(folder, f"it has over {MAX_FILES} files or {MAX_BYTES} bytes")


def _build(contents: Mapping[str, bytes], served_with: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for word in served_with:
        digest.update(f"{word}\n".encode())
    for name, content in contents.items():
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:_BUILD_LENGTH]


def _path(name: str, build: str) -> str | None:
    """The path at which a file is served; None where it has no place."""
    folder, _, rest = name.partition("/")
    if name in _PAGES:
        return _PAGES[name]
    if name in _AT_THE_ROOT or (folder == "icons" and rest):
        return f"/{name}"
    return f"/app/{build}/{rest}" if folder == "app" and rest else None
