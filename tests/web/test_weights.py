"""The web app's weight store in a real Chromium: what is sent again after what goes wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from tests.web.browsing import Browser, launched, profile
from tests.web.weights_server import (
    StoreFailure,
    StorePage,
    WeightsServer,
    bundled,
    model_of,
)

CHUNK = 128 << 10
# Shards of an odd number of rows, so that chunks straddle their border.
MODEL = model_of(rows=5003, hidden=96, chunk=CHUNK)
KINDS = ("opfs", "indexeddb")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundled(tmp_path_factory.mktemp("weights-page"))


@pytest.fixture
def server(scripts: Path) -> Iterator[WeightsServer]:
    with WeightsServer(MODEL, scripts).running() as running:
        yield running


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


def check_whole(tab: StorePage, server: WeightsServer) -> None:
    """What is stored is what the server has, byte for byte."""
    digest = server.model.digest
    assert (
        tab.call("rows", digest=digest) == sha256(server.model.files["embedding.bin"]).hexdigest()
    )
    assert tab.call("texts", digest=digest) == '{"tokenizer": true}'
    (listed,) = tab.call("list")
    assert listed["complete"]
    assert listed["bytes"] >= server.model.size


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_fetched_once_and_found_again(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url, kind)
    pulled = tab.call("pull", shards=3, token="secret")
    assert (pulled["digest"], pulled["shards"]) == (MODEL.digest, 3)
    assert server.sent == MODEL.size
    assert server.credentials == {"Bearer secret"}
    check_whole(tab, server)
    tab.page.close()
    again = StorePage(context.new_page(), server.url, kind)
    assert again.call("pull", shards=5)["shards"] == 3
    assert server.sent == MODEL.size


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_closed_tab_at_most_one_chunk_is_sent_again(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    for count in (3 * CHUNK + CHUNK // 2, CHUNK):
        tab = StorePage(context.new_page(), server.url, kind)
        server.hold_after(count)
        tab.start("pull")
        server.wait_until_held()
        tab.page.close()
        server.resume()
    last = StorePage(context.new_page(), server.url, kind)
    assert last.call("pull")["last"]["resumed"] >= 3 * CHUNK
    assert server.sent <= MODEL.size + 2 * CHUNK
    check_whole(last, server)


def kill(folder: Path) -> None:
    """SIGKILL to the browser of this profile; its other processes end with it."""
    flag = f"--user-data-dir={folder}"
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if flag in line and not any(part.startswith("--type=") for part in line):
            os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("kind", KINDS)
def test_after_kill_9_of_the_browser_at_most_one_chunk_is_sent_again(
    kind: str, tmp_path: Path, server: WeightsServer
) -> None:
    with profile(tmp_path) as context:
        tab = StorePage(context.new_page(), server.url, kind)
        server.hold_after(4 * CHUNK + CHUNK // 2)
        tab.start("pull")
        server.wait_until_held()
        kill(tmp_path)
        with pytest.raises(PlaywrightError):
            tab.call("list")
    server.resume()
    with profile(tmp_path) as context:
        tab = StorePage(context.new_page(), server.url, kind)
        assert tab.call("pull")["last"]["resumed"] == 4 * CHUNK
        assert server.sent <= MODEL.size + CHUNK
        check_whole(tab, server)


@pytest.mark.parametrize("kind", KINDS)
def test_three_cut_connections_and_a_corrupt_chunk_cost_at_most_one_chunk_each(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    server.cuts = [CHUNK // 2, 2 * CHUNK, 4 * CHUNK + 5]
    server.corrupt = [6 * CHUNK + 77]
    tab = StorePage(context.new_page(), server.url, kind)
    assert tab.call("pull")["retried"] == ["connection_lost"] * 3
    assert server.cuts == server.corrupt == []
    assert server.sent <= MODEL.size + 4 * CHUNK
    damaged = f"bytes={6 * CHUNK}-{7 * CHUNK - 1}"
    assert [asked for _, asked in server.requests].count(damaged) == 2
    check_whole(tab, server)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_that_stays_wrong_ends_the_download_and_keeps_the_others(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    server.always_corrupt = [2 * CHUNK + 1]
    tab = StorePage(context.new_page(), server.url, kind)
    with pytest.raises(StoreFailure) as caught:
        tab.call("pull")
    assert caught.value.code == "download_damaged"
    assert tab.call("doneBytes", digest=MODEL.digest) == 2 * CHUNK
    assert not tab.call("find", digest=MODEL.digest)
    sent, server.always_corrupt = server.sent, []
    tab.call("pull")
    assert server.sent == sent + MODEL.size - 2 * CHUNK
    check_whole(tab, server)


@pytest.mark.parametrize("kind", KINDS)
def test_a_paused_download_goes_on_and_a_deleted_one_leaves_nothing(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url, kind)
    server.hold_after(3 * CHUNK + 1)
    tab.start("pull")
    server.wait_until_held()
    tab.call("pause")
    with pytest.raises(StoreFailure) as caught:
        tab.ended()
    assert caught.value.code == "paused"
    server.resume()
    assert tab.call("doneBytes", digest=MODEL.digest) == 3 * CHUNK
    (partial,) = tab.call("list")
    assert not partial["complete"]
    tab.call("remove", digest=MODEL.digest)
    assert tab.call("list") == []
    tab.call("pull")
    tab.call("remove", digest=MODEL.digest)
    assert tab.call("list") == []


@pytest.mark.parametrize("kind", KINDS)
def test_two_tabs_do_not_download_the_same_model_at_once(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    first, second = (StorePage(context.new_page(), server.url, kind) for _ in range(2))
    server.hold_after(CHUNK)
    first.start("pull")
    server.wait_until_held()
    for action in ("pull", "remove"):
        with pytest.raises(StoreFailure) as caught:
            second.call(action, digest=MODEL.digest)
        assert caught.value.code == "model_in_use"
    server.resume()
    first.ended()
    assert second.call("pull")["digest"] == MODEL.digest
    assert server.sent == MODEL.size


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_a_tab_reads_is_read_by_others_and_not_deleted(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    first, second = (StorePage(context.new_page(), server.url, kind) for _ in range(2))
    first.call("pull")
    first.call("hold", digest=MODEL.digest)
    check_whole(second, server)
    with pytest.raises(StoreFailure) as caught:
        second.call("remove", digest=MODEL.digest)
    assert caught.value.code == "model_in_use"
    first.page.close()
    second.call("remove", digest=MODEL.digest)
    assert second.call("list") == []


def test_rows_come_synchronously_and_through_a_blob_where_another_tab_holds_the_file_alone(
    context: BrowserContext, server: WeightsServer
) -> None:
    first, second = (StorePage(context.new_page(), server.url, "opfs") for _ in range(2))
    first.call("pull")
    wanted = list(MODEL.files["embedding.bin"][5 * 192 : 6 * 192])
    first.call("hold", digest=MODEL.digest)
    assert first.call("heldRow", index=5) == {"sync": True, "bytes": wanted}
    first.call("release")
    first.call("holdAlone", digest=MODEL.digest)
    second.call("hold", digest=MODEL.digest)
    assert second.call("heldRow", index=5) == {"sync": False, "bytes": wanted}


@pytest.mark.parametrize("kind", KINDS)
def test_a_derived_file_counts_once_it_is_sealed_and_goes_with_its_model(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url, kind)
    tab.call("pull")
    plain = tab.call("list")[0]["bytes"]
    tab.call("hold", digest=MODEL.digest)
    size = 100_000
    assert tab.call("derived", name="plane", size=size) is None
    assert tab.call("derive", name="plane", size=size, seal=False)
    assert tab.call("derived", name="plane", size=size) is None
    assert tab.call("derive", name="plane", size=size, seal=True)
    assert tab.call("derived", name="plane", size=size) == [7, 7, 8, 9]
    assert tab.call("derived", name="plane", size=size + 1) is None
    assert tab.call("list")[0]["bytes"] >= plain + size
    tab.call("release")
    tab.call("dropDerived", digest=MODEL.digest)
    assert tab.call("list")[0]["bytes"] == plain
    check_whole(tab, server)


@pytest.mark.parametrize("private", [True, False], ids=["private", "kept"])
def test_a_full_storage_is_told_and_keeps_what_is_complete(
    private: bool, chromium: Browser, tmp_path: Path, server: WeightsServer
) -> None:
    if not private:
        with profile(tmp_path) as context:
            check_full_storage(context, server)
        return
    context = chromium.new_context()
    check_full_storage(context, server)
    context.close()


def check_full_storage(context: BrowserContext, server: WeightsServer) -> None:
    """Chromium counts no quota override for IndexedDB, and its estimate leaves it out too."""
    tab = StorePage(context.new_page(), server.url, "opfs")
    tab.call("pull")
    other = model_of(rows=5003, hidden=96, chunk=CHUNK, seed=2)
    server.model = other
    devtools = context.new_cdp_session(tab.page)
    quota = {"origin": server.url, "quotaSize": MODEL.size + CHUNK}
    devtools.send("Storage.overrideQuotaForOrigin", quota)
    sent = server.sent
    with pytest.raises(StoreFailure) as caught:
        tab.call("pull")
    assert caught.value.code == "storage_full"
    assert server.sent == sent, "what does not fit is not begun"
    assert [model["name"] for model in tab.call("list")] == ["model 1"]
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": server.url})
    tab.call("pull")
    for model in (MODEL, other):
        table = sha256(model.files["embedding.bin"]).hexdigest()
        assert tab.call("rows", digest=model.digest) == table


def test_a_page_over_plain_http_keeps_its_weights_in_indexeddb(server: WeightsServer) -> None:
    with launched("--host-resolver-rules=MAP lan.test 127.0.0.1") as browser:
        context = browser.new_context()
        url = f"http://lan.test:{server.port}"
        first, second = (StorePage(context.new_page(), url) for _ in range(2))
        assert first.environment == {"kind": "indexeddb", "subtle": False, "locks": False}
        assert first.page.evaluate("() => askToKeep()") == "unsupported"
        assert first.call("free") is None
        server.hold_after(CHUNK)
        first.start("pull")
        server.wait_until_held()
        with pytest.raises(StoreFailure) as caught:
            second.call("pull")
        assert caught.value.code == "model_in_use"
        server.resume()
        first.ended()
        first.call("hold", digest=MODEL.digest)
        with pytest.raises(StoreFailure) as caught:
            second.call("remove", digest=MODEL.digest)
        assert caught.value.code == "model_in_use"
        first.page.close()
        check_whole(second, server)
        assert server.sent == MODEL.size
        second.call("remove", digest=MODEL.digest)


def test_refusals_are_waited_for_or_told(context: BrowserContext, server: WeightsServer) -> None:
    tab = StorePage(context.new_page(), server.url)
    changed = b'{"error": {"code": "weights_changed", "message": "gone", "retryable": false}}'
    for status, code, body in (
        (401, "unauthorized", b""),
        (404, "not_a_split_server", b"<html>"),
        (409, "weights_changed", changed),
        (416, "weights_changed", b""),
    ):
        server.refusals = [(status, {}, body)]
        with pytest.raises(StoreFailure) as caught:
            tab.call("pull")
        assert caught.value.code == code
    busy = b'{"error": {"code": "overloaded", "message": "later", "retryable": true}}'
    server.refusals = [(503, {"Retry-After": "1"}, busy), (429, {}, b""), (502, {}, b"")]
    retried = tab.call("pull")["retried"]
    assert retried == ["overloaded", "connection_lost", "connection_lost"]
    assert server.sent == MODEL.size


def test_a_server_that_falls_silent_is_asked_again(
    context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url)
    server.hold_after(CHUNK // 2)
    tab.start("pull", stallSeconds=1)
    server.wait_until_held()
    tab.page.wait_for_timeout(1500)
    server.resume()
    assert tab.ended()["retried"][0] == "connection_lost"
    assert server.sent <= MODEL.size + 2 * CHUNK
