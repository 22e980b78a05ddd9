"""Several servers behind a balancer: a device is brought to one of them, and goes on elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest

from split_client.api import SplitClient
from split_client.chat.reply import Reply
from split_client.generation.loop import Event, TokenEvent
from split_client.generation.sampling.params import SamplingParams
from split_client.noise.ledger import Ledger
from split_client.noise.settings import NoiseSettings
from split_client.transport.carriers import returning
from split_client.transport.channel import Patience
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers
from split_client.transport.routing.ids import new_id
from split_client.transport.routing.route import Route
from split_wire.errors import TooManySessions
from tests import oracle
from tests.balancer import Balancer
from tests.end_to_end.server_processes import ServerProcess, server_process
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_relay.net import free_port

Transport = Literal["websocket", "http"]
TRANSPORTS: tuple[Transport, ...] = ("websocket", "http")
PROMPT = "Hello, how are you today?"
GREEDY = SamplingParams()
COUNT = 24
QUICK = Patience(first_delay=0.02, longest_delay=0.2)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))


@pytest.fixture
def replicas(tiny_path: Path) -> Iterator[list[RunningServer]]:
    with running_server(tiny_path) as one, running_server(tiny_path) as other:
        yield [one, other]


@pytest.fixture
def processes(tiny_path: Path) -> Iterator[dict[int, ServerProcess]]:
    with ExitStack() as stack:
        made = [stack.enter_context(server_process(tiny_path, free_port())) for _ in range(2)]
        yield {server.port: server for server in made}


def _client(balancer: Balancer, cache: Path, **options: Any) -> SplitClient:
    return SplitClient(balancer.url, cache=cache, patience=QUICK, **options)


def _asked(client: SplitClient, count: int = COUNT) -> Reply:
    return client.generate(PROMPT, GREEDY, max_tokens=count)


def _whole(client: SplitClient) -> tuple[int, ...]:
    reply = _asked(client)
    reply.read()
    return tuple(reply.token_ids)


def _some_tokens(events: Iterator[Event], count: int) -> None:
    while count:
        count -= isinstance(next(events), TokenEvent)


def _expected(
    client: SplitClient, path: Path, text: str = PROMPT, count: int = COUNT
) -> tuple[int, ...]:
    ids = client.ends.tokenizer.encode(PROMPT, add_special_tokens=True)
    return tuple(oracle.greedy(path, ids, count))


def _back(balancer: Balancer, tried: int, ports: list[int]) -> None:
    """Have the servers come back once so many requests were made."""
    until(lambda: len(balancer.asked) >= tried)
    balancer.ports = tuple(ports)


def _refused(*_: object) -> None:
    raise TooManySessions(1, 1.0)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_device_stays_with_one_server_and_its_weights_say_nothing_of_it(
    replicas: list[RunningServer], tiny_path: Path, tmp_path: Path, transport: Transport
) -> None:
    with (
        Balancer(*(server.port for server in replicas)) as balancer,
        _client(balancer, tmp_path, transport=transport) as client,
    ):
        assert _whole(client) == _expected(client, tiny_path)
        # A session that is lost is opened again: the prompt travels once.
        assert client.stats.exchanges < 2 * COUNT
        assert sorted(len(server.parts.steps.store) for server in replicas) == [0, 1]
    (s,) = {one.s for one in balancer.frames()}
    assert s == KnownServers().routing_id(Endpoint.parse(balancer.url))
    assert len({one.port for one in balancer.frames()}) == 1
    others = [one for one in balancer.asked if one not in balancer.frames()]
    assert others
    assert all(one.query == "" for one in others)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_is_killed_in_the_middle_changes_no_token(
    processes: dict[int, ServerProcess], tiny_path: Path, tmp_path: Path, transport: Transport
) -> None:
    with (
        Balancer(*processes) as balancer,
        _client(balancer, tmp_path, transport=transport) as client,
    ):
        reply = _asked(client)
        events = reply.events()
        _some_tokens(events, 5)
        first = balancer.frames()[-1].port
        assert first is not None
        processes[first].kill()
        _some_tokens(events, 5)
        second = balancer.frames()[-1].port
        assert second not in (None, first)
        processes[first].start()
        processes[first].wait_until_it_listens()
        # Back to the first one, which knows nothing of the session.
        balancer.cut()
        for _ in events:
            pass
        assert tuple(reply.token_ids) == _expected(client, tiny_path)
        assert balancer.frames()[-1].port == first


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_once_it_is_asked_for_another_routing_id_links_nothing_with_what_was(
    replicas: list[RunningServer], tiny_path: Path, tmp_path: Path, transport: Transport
) -> None:
    with (
        Balancer(*(server.port for server in replicas)) as balancer,
        _client(balancer, tmp_path, transport=transport) as client,
    ):
        expected = _expected(client, tiny_path)
        assert _whole(client) == expected
        before = balancer.frames()
        client.route_anew()
        assert _whole(client) == expected
    after = balancer.frames()[len(before) :]
    assert after
    assert {one.s for one in before}.isdisjoint({one.s for one in after})
    assert {one.s for one in after} == {KnownServers().routing_id(Endpoint.parse(balancer.url))}


def test_noise_is_spent_once_however_often_a_session_is_sent_again(
    processes: dict[int, ServerProcess], tmp_path: Path
) -> None:
    told = []
    for kills in (False, True):
        ledger = tmp_path / f"ledger {kills}.json"
        noise = NoiseSettings(epsilon=8.0, ledger=ledger, key=bytes(range(32)))
        with Balancer(*processes) as balancer, _client(balancer, tmp_path, noise=noise) as client:
            reply = _asked(client)
            events = reply.events()
            _some_tokens(events, 5)
            port = balancer.frames()[-1].port
            if kills and port is not None:
                processes[port].kill()
            for _ in events:
                pass
        told.append((reply.token_ids, Ledger(ledger).spent("default")))
    assert told[0] == told[1]


def _leading(balancer: Balancer, port: int) -> str:
    """A routing id that leads there."""
    while balancer.order(id := new_id())[0] != port:
        pass
    return id


def test_a_full_server_is_left_for_one_with_a_place(
    replicas: list[RunningServer],
    tiny_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Balancer(*(server.port for server in replicas)) as balancer:
        home = balancer.order(KnownServers().routing_id(Endpoint.parse(balancer.url)))[0]
        full = next(server for server in replicas if server.port == home)
        monkeypatch.setattr(full.parts.steps.opening, "_queues", False)
        monkeypatch.setattr(full.parts.steps.store, "open", _refused)
        other = next(server.port for server in replicas if server.port != home)
        # Chance leads to the full one twice more, and not so often that the device waits.
        ways = iter([home, home, other])

        def change(route: Route, id: str | None = None) -> None:
            route.id = id or _leading(balancer, next(ways))

        monkeypatch.setattr(Route, "change", change)
        with _client(balancer, tmp_path) as client:
            assert _whole(client) == _expected(client, tiny_path)
        assert [one.port for one in balancer.frames()] == [home, home, home, other]
        assert len({one.s for one in balancer.frames()}) == 4
    # The next program begins at home again.
    assert balancer.order(KnownServers().routing_id(Endpoint.parse(balancer.url)))[0] == home


@pytest.mark.parametrize("status", [500, 502, 503])
def test_after_an_outage_of_all_servers_a_device_comes_back_to_its_websocket(
    replicas: list[RunningServer],
    tiny_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
) -> None:
    monkeypatch.setattr(returning, "FIRST", 0.05)
    ports = [server.port for server in replicas]
    with Balancer(*ports, status=status) as balancer, _client(balancer, tmp_path) as client:
        reply = _asked(client, count=3 * COUNT)
        events = reply.events()
        _some_tokens(events, 5)
        # Nobody answers, then HTTP alone: what a device falls to.
        balancer.ports = ()
        balancer.upgrades = False
        balancer.cut()
        tried = len(balancer.asked)
        back = threading.Thread(target=_back, args=(balancer, tried + 6, ports))
        back.start()
        _some_tokens(events, 5)
        back.join()
        assert client._model is not None
        channel = client._model.channel
        assert channel.transport_name == "http"
        balancer.upgrades = True
        while channel.transport_name == "http":
            _some_tokens(events, 1)
        for _ in events:
            pass
        assert tuple(reply.token_ids) == _expected(client, tiny_path, count=3 * COUNT)
