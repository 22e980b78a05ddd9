"""The web app's weight store in a real Chromium: what is sent again after what goes wrong."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import BrowserContext
from playwright.sync_api import Error as PlaywrightError

from tests.web.browsing import profile
from tests.web.weights.server import StoreFailure, StorePage, WeightsServer
from tests.web.weights.tabs import (
    CHUNK,
    KINDS,
    MODEL,
    SOME_KINDS,
    check_whole,
    context,
    scripts,
    server,
)

__all__ = ["context", "scripts", "server"]


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


@pytest.mark.parametrize("kind", SOME_KINDS)
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


@pytest.mark.parametrize("kind", SOME_KINDS)
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


def test_a_chunk_that_stays_wrong_ends_the_download_and_keeps_the_others(
    context: BrowserContext, server: WeightsServer
) -> None:
    server.always_corrupt = [2 * CHUNK + 1]
    tab = StorePage(context.new_page(), server.url)
    with pytest.raises(StoreFailure) as caught:
        tab.call("pull")
    assert caught.value.code == "download_damaged"
    assert tab.call("doneBytes", digest=MODEL.digest) == 2 * CHUNK
    assert not tab.call("find", digest=MODEL.digest)
    sent, server.always_corrupt = server.sent, []
    tab.call("pull")
    assert server.sent == sent + MODEL.size - 2 * CHUNK
    check_whole(tab, server)


def test_a_paused_download_goes_on_and_a_deleted_one_leaves_nothing(
    context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url)
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


def test_bytes_count_as_they_come_and_a_paused_piece_goes_on_where_it_stopped(
    context: BrowserContext, server: WeightsServer
) -> None:
    tab = StorePage(context.new_page(), server.url)
    half = CHUNK + CHUNK // 2
    server.hold_after(half)
    tab.start("pull")
    server.wait_until_held()
    tab.page.wait_for_function(
        "(half) => call('progress').then(({ value }) => value?.done === half)", arg=half
    )
    tab.call("pause")
    with pytest.raises(StoreFailure) as caught:
        tab.ended()
    assert caught.value.code == "paused"
    asked = len(server.requests)
    server.resume()
    tab.call("pull")
    assert server.requests[asked] == ("embedding.bin", f"bytes={half}-{2 * CHUNK - 1}")
    check_whole(tab, server)
