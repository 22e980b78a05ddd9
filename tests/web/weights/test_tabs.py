"""The web app's weight store beside other tabs, in a full storage, and without OPFS."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.web.browsing import Browser, launched, profile
from tests.web.weights.server import StoreFailure, StorePage, WeightsServer, model_of
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


def test_two_tabs_do_not_download_the_same_model_at_once(
    context: BrowserContext, server: WeightsServer
) -> None:
    first, second = (StorePage(context.new_page(), server.url) for _ in range(2))
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


@pytest.mark.parametrize("kind", SOME_KINDS)
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


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_a_tab_may_look_while_another_downloads(
    kind: str, context: BrowserContext, server: WeightsServer
) -> None:
    server.model = model_of(rows=20_000, hidden=96, chunk=64 << 10, seed=3)
    first, second = (StorePage(context.new_page(), server.url, kind) for _ in range(2))
    first.start("pull")
    seen = []
    while not seen or not seen[-1]["complete"]:
        seen = [*seen, *second.call("list")]
    first.ended()
    arrived = [model["bytes"] for model in seen]
    assert arrived == sorted(arrived)
    check_whole(second, server)
