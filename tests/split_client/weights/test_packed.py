"""Tables that travel in blocks: the same file arrives, in fewer bytes, or as its own bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from split_client.errors import DownloadFailed, ServerRefused
from split_client.weights.download import WeightsSource
from split_client.weights.forms import OwnBytes, form_of
from split_client.weights.manifest import parse_manifest
from split_client.weights.pull import MAX_TRIES, Progress, fetch_manifest, pull
from split_client.weights.store import ModelStore
from split_wire.blocks import q8_0_size, q8_0_to_bf16
from tests.split_client.weights.offers import (
    CHUNK,
    DOCUMENT,
    FILES,
    HIDDEN,
    VOCAB,
    WeightsServer,
    document,
    encoded,
    file_entry,
)

TABLE, PACKED = "embedding.bin", "embedding.bin.q8_0"
# Scales of 1 to 2, so that every value is a number.
BLOCKS = b"".join(
    bytes([scale, 0x3C]) + random.Random(scale).randbytes(32)  # noqa: S311
    for scale in [number % 251 for number in range(VOCAB * HIDDEN // 32)]
)
ROWS = q8_0_to_bf16(BLOCKS)
PACKED_CHUNK = q8_0_size(CHUNK)
PACKED_FILES = {**FILES, TABLE: ROWS, PACKED: BLOCKS}
SPARED = len(ROWS) - len(BLOCKS)


def _document(chunk: int = CHUNK, dtype: str = "bf16") -> dict[str, Any]:
    entries = [file_entry(name, data) for name, data in FILES.items() if name != TABLE]
    files = [file_entry(TABLE, ROWS, chunk), *entries]
    return document(ends__embedding__dtype=dtype, ends__lm_head__dtype=dtype, files=files)


def _server(**changes: Any) -> WeightsServer:
    served = {"manifest": encoded(_document()), "packed": PACKED, "files": dict(PACKED_FILES)}
    return WeightsServer(**(served | changes))


class Pulled:
    """What a pull brought, asked for and said."""

    def __init__(self, server: WeightsServer, cache: Path, source: WeightsSource) -> None:
        self.server, self.cache, self.source = server, cache, source
        self.progress: list[Progress] = []
        self.waits: list[float] = []

    def __call__(self) -> bytes:
        manifest, data = fetch_manifest(self.source)
        stored = pull(
            self.source,
            ModelStore(self.cache),
            manifest,
            data,
            packed=self.source.packed,
            progress=self.progress.append,
            pause=self.waits.append,
            chance=lambda: 0.5,
        )
        return stored.path(TABLE).read_bytes()

    @property
    def starts(self) -> list[tuple[str, int]]:
        """Requests of the table, in either form."""
        return [(name, at) for name, at in self.server.requests if name in (TABLE, PACKED)]


@contextmanager
def pulling(server: WeightsServer, cache: Path) -> Iterator[Pulled]:
    with server.running() as endpoint:
        source = WeightsSource(endpoint, None)
        yield Pulled(server, cache, source)
        source.close()


def test_a_table_is_made_of_its_blocks(tmp_path: Path) -> None:
    with pulling(_server(), tmp_path) as pulled:
        assert pulled() == ROWS
        assert pulled.starts == [(PACKED, 0)]
        last = pulled.progress[-1]
        size = parse_manifest(encoded(_document())).size
        assert last.done == last.total == size - SPARED
        [note] = [one.note for one in pulled.progress if one.note]
        assert note == "comes packed, 0.1 MB less than it takes here"


def test_an_older_server_is_read_as_before(tmp_path: Path) -> None:
    with pulling(_server(packed=""), tmp_path) as pulled:
        assert pulled() == ROWS
        assert pulled.starts == [(TABLE, 0)]
        assert not any(one.note for one in pulled.progress)


def test_a_cut_download_goes_on_at_the_last_whole_chunk(tmp_path: Path) -> None:
    server = _server(cut_after=[PACKED_CHUNK + 10, 5])
    with pulling(server, tmp_path) as pulled:
        assert pulled() == ROWS
        assert pulled.starts == [(PACKED, 0), (PACKED, PACKED_CHUNK), (PACKED, PACKED_CHUNK)]


def test_a_server_without_ranges_is_read_past_what_is_there(tmp_path: Path) -> None:
    server = _server(ranges=False, cut_after=[PACKED_CHUNK + 10])
    with pulling(server, tmp_path) as pulled:
        assert pulled() == ROWS


def test_a_pull_goes_on_in_blocks_where_another_one_fetched_rows(tmp_path: Path) -> None:
    with pulling(_server(), tmp_path) as pulled:
        manifest, data = fetch_manifest(pulled.source)
        folder = ModelStore(tmp_path).begin(manifest, data)
        (folder / TABLE).write_bytes(ROWS[: CHUNK + 100])
        assert pulled() == ROWS
        assert pulled.starts == [(PACKED, PACKED_CHUNK)]


def test_a_damaged_chunk_of_a_stored_model_is_mended_by_its_blocks(tmp_path: Path) -> None:
    with pulling(_server(), tmp_path) as pulled:
        pulled()
        path = ModelStore(tmp_path).list()[0].path(TABLE)
        path.write_bytes(ROWS[:CHUNK] + b"\0" + ROWS[CHUNK + 1 :])
        pulled.server.requests.clear()
        assert pulled() == ROWS
        assert pulled.starts == [(PACKED, PACKED_CHUNK)]


def test_blocks_that_arrive_damaged_once_are_fetched_again(tmp_path: Path) -> None:
    with pulling(_server(corrupt=[PACKED_CHUNK + 7]), tmp_path) as pulled:
        assert pulled() == ROWS
        assert pulled.starts == [(PACKED, 0), (PACKED, PACKED_CHUNK)]


def test_blocks_that_stay_wrong_give_way_to_the_files_own_bytes(tmp_path: Path) -> None:
    wrong = bytearray(BLOCKS)
    wrong[PACKED_CHUNK + 7] ^= 1
    server = _server(files={**PACKED_FILES, PACKED: bytes(wrong)})
    with pulling(server, tmp_path) as pulled:
        assert pulled() == ROWS
        again = (PACKED, PACKED_CHUNK)
        assert pulled.starts == [(PACKED, 0), again, (TABLE, CHUNK)]
        last = pulled.progress[-1]
        assert last.done == last.total == parse_manifest(server.manifest).size


@pytest.mark.parametrize("status", [404, 403])
def test_blocks_that_are_refused_give_way_at_once(status: int, tmp_path: Path) -> None:
    with pulling(_server(status={PACKED: status}), tmp_path) as pulled:
        assert pulled() == ROWS
        assert pulled.starts == [(TABLE, 0)]
        assert pulled.waits == []


def test_a_table_that_is_refused_in_both_forms_ends_the_pull(tmp_path: Path) -> None:
    server = _server(status={PACKED: 404, TABLE: 404})
    with pulling(server, tmp_path) as pulled, pytest.raises(ServerRefused, match="404"):
        pulled()


def test_blocks_that_end_early_are_given_up_with_what_arrived(tmp_path: Path) -> None:
    server = _server(files={**PACKED_FILES, PACKED: BLOCKS[: PACKED_CHUNK + 1]})
    with pulling(server, tmp_path) as pulled:
        with pytest.raises(DownloadFailed, match="pull again"):
            pulled()
        assert len(pulled.waits) == MAX_TRIES - 1
        server.files[PACKED] = BLOCKS
        assert pulled() == ROWS


@pytest.mark.parametrize(
    ("doc", "packed"),
    [
        (_document(), {"tokenizer.json.q8_0"}),
        (_document(), {"EMBEDDING.BIN.q8_0"}),
        (_document(dtype="f16"), {PACKED}),
        (_document(chunk=CHUNK + 2), {PACKED}),
        (DOCUMENT, {PACKED}),
    ],
)
def test_only_rows_of_bfloat16_in_whole_blocks_are_read_packed(
    doc: dict[str, Any], packed: set[str]
) -> None:
    manifest = parse_manifest(encoded(doc))
    forms = [form_of(manifest, entry, packed) for entry in manifest.files]
    assert forms == [OwnBytes(entry.name) for entry in manifest.files]


def test_of_a_server_that_tells_of_forms_without_end_some_are_heard(tmp_path: Path) -> None:
    names = [f"file{number}.q8_0" for number in range(500)]
    with pulling(_server(packed=", ".join(names)), tmp_path) as pulled:
        assert pulled() == ROWS
        assert len(pulled.source.packed) == 16
