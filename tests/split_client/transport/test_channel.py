from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from split_client.errors import (
    Cancelled,
    ConnectionLost,
    NotASplitServer,
    ServerRefused,
    ServerUnreachable,
    TlsMismatch,
    UpgradeRefused,
)
from split_client.transport.channel import Channel, Patience, Reconnecting
from split_client.transport.connect import connector
from split_client.transport.routing.route import Route
from split_wire.codec import encode_message
from split_wire.messages import Ping, Pong
from tests.patience import PATIENCE
from tests.split_client.servers import http_server, posting, socket_server

PING, PONG = encode_message(Ping()), encode_message(Pong())
LOST = ConnectionLost("cut")


@dataclass
class Script:
    """Transports that do what they are told, and a clock that only waiting moves.

    ``connects`` and ``answers`` are consumed front to back: an exception is raised, anything else
    is the result; when they run out everything works.
    """

    connects: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    closed: int = 0
    accepted: list[int] = field(default_factory=list)
    now: float = 0.0
    waits: list[float] = field(default_factory=list)
    notices: list[Reconnecting] = field(default_factory=list)

    def connect(self, kind: Literal["websocket", "http"], timeout: float) -> Any:
        self.kinds.append(kind)
        _next(self.connects)
        return _Transport(self, kind)

    def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def settled(self) -> None:
        """What was begun beside the exchanges has ended."""
        for thread in threading.enumerate():
            if thread.name == "early socket":
                thread.join(PATIENCE)

    def channel(self, mode: Any = "auto", **options: Any) -> Channel:
        options = {"pause": self.pause, "clock": lambda: self.now, "chance": lambda: 1.0} | options
        return Channel(self.connect, mode, notify=self.notices.append, **options)


@dataclass
class _Transport:
    script: Script
    name: str

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        self.script.sent.append(frame)
        answer = _next(self.script.answers)
        return b"answer" if answer is None else answer

    def accept(self, max_frame: int) -> None:
        self.script.accepted.append(max_frame)

    def close(self) -> None:
        self.script.closed += 1


def _next(items: list[Any]) -> Any:
    item = items.pop(0) if items else None
    if isinstance(item, BaseException):
        raise item
    return item


def test_one_connection_carries_many_exchanges() -> None:
    script = Script()
    channel = script.channel()
    assert [channel.exchange(b"a"), channel.exchange(b"b")] == [b"answer", b"answer"]
    assert script.kinds == ["websocket"]
    assert (channel.traffic.sent, channel.traffic.received, channel.traffic.exchanges) == (2, 12, 2)


def test_room_for_a_longer_answer_is_kept_over_reconnects_and_never_shrinks() -> None:
    script = Script(answers=[b"1", LOST, b"2"])
    channel = script.channel()
    channel.exchange(b"x")
    assert script.accepted == []
    channel.accept(500)
    channel.accept(400)
    channel.exchange(b"x")
    assert script.accepted == [500, 500]


def test_a_lost_frame_is_sent_again_over_a_new_connection() -> None:
    script = Script(answers=[LOST, LOST, LOST, b"done"])
    channel = script.channel()
    assert channel.exchange(b"frame") == b"done"
    assert script.sent == [b"frame"] * 4


def test_connections_that_came_about_again_are_counted_and_attempts_are_not() -> None:
    refused = ServerUnreachable("a", "refused")
    script = Script(connects=[refused, refused, None, refused], answers=[b"1", LOST, LOST, b"2"])
    channel = script.channel("websocket")
    channel.exchange(b"x")
    assert channel.reconnects == 0
    channel.exchange(b"x")
    assert channel.reconnects == 1


def test_the_first_loss_is_repaired_without_a_notice() -> None:
    script = Script(answers=[LOST, b"1", LOST, LOST, LOST])
    channel = script.channel()
    channel.exchange(b"x")
    assert script.notices == []
    channel.exchange(b"x")
    assert [(notice.reason, notice.attempt) for notice in script.notices] == [
        ("cut", 1),
        ("cut", 2),
    ]


def test_delays_grow_up_to_a_limit_and_the_total_is_bounded() -> None:
    script = Script(connects=[ServerUnreachable("a", "refused")] * 1000)
    channel = script.channel("websocket", patience=Patience(total=20, longest_delay=4))
    with pytest.raises(ServerUnreachable):
        channel.exchange(b"x")
    assert script.waits[:7] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 4]
    assert 16 < script.now <= 20


def test_a_certificate_that_is_not_trusted_is_told_at_once() -> None:
    expired = TlsMismatch("a", "certificate_expired", "the certificate has expired", "renew it")
    script = Script(connects=[expired])
    with pytest.raises(TlsMismatch) as caught:
        script.channel().exchange(b"x")
    assert (caught.value.code, script.waits) == ("certificate_expired", [])


def test_delays_are_random_by_half() -> None:
    patience = Patience()
    assert patience.delay(3, 0.0) == pytest.approx(patience.delay(3, 1.0) / 2)


def test_http_takes_over_when_the_upgrade_is_refused() -> None:
    script = Script(connects=[UpgradeRefused("blocked")])
    channel = script.channel()
    channel.exchange(b"x")
    channel.exchange(b"x")
    assert script.kinds == ["websocket", "http"]
    assert channel.transport_name == "http"


def test_http_takes_over_from_sockets_that_lose_every_frame() -> None:
    script = Script(answers=[LOST, LOST])
    channel = script.channel()
    channel.exchange(b"x")
    assert script.kinds == ["websocket", "websocket", "http"]


def test_a_socket_that_has_worked_is_tried_again_after_a_loss() -> None:
    script = Script(answers=[b"1", LOST, b"2", LOST, b"3", LOST])
    channel = script.channel()
    for _ in range(4):
        channel.exchange(b"x")
    assert set(script.kinds) == {"websocket"}


def test_after_a_loss_over_http_a_socket_is_tried_again() -> None:
    script = Script(connects=[UpgradeRefused("proxy")], answers=[b"1", LOST])
    channel = script.channel()
    channel.exchange(b"x")
    channel.exchange(b"x")
    assert script.kinds == ["websocket", "http", "websocket"]


def test_who_fell_to_http_while_nobody_answered_comes_back_to_a_websocket() -> None:
    refused = [UpgradeRefused("503"), ServerUnreachable("a", "refused"), UpgradeRefused("503")]
    script = Script(answers=[b"1", LOST], connects=[None, *refused])
    channel = script.channel()
    channel.exchange(b"x")
    channel.exchange(b"y")
    assert channel.transport_name == "http"
    fell = script.now
    while channel.transport_name == "http":
        assert script.now < fell + 60
        channel.exchange(b"z")
        script.now += 1
        script.settled()
    assert script.sent.count(PING) == 1
    assert channel.exchange(b"over it") == b"answer"
    # The connection that it left is closed, and nothing was lost with it.
    assert (script.kinds[-1], script.closed, channel.reconnects) == ("websocket", 2, 1)


def test_who_never_had_a_websocket_stays_on_http() -> None:
    script = Script(connects=[UpgradeRefused("blocked")])
    channel = script.channel()
    for _ in range(200):
        channel.exchange(b"x")
        script.now += 1
    assert script.kinds == ["websocket", "http"]


def test_sockets_that_answer_pings_alone_are_left_again() -> None:
    script = Script(connects=[None, UpgradeRefused("503")], answers=[b"1", LOST])
    channel = script.channel()
    channel.exchange(b"x")
    channel.exchange(b"x")
    while not script.sent.count(PING):
        channel.exchange(b"x")
        script.now += 1
        script.settled()
    script.answers += [LOST, LOST]
    assert channel.exchange(b"x") == b"answer"
    assert script.kinds[-3:] == ["websocket", "websocket", "http"]


def test_500_of_something_in_between_is_a_loss_once_the_server_has_proven_itself() -> None:
    script = Script(answers=[b"1", NotASplitServer(500), NotASplitServer(500)])
    channel = script.channel("http")
    channel.exchange(b"x")
    assert channel.exchange(b"y") == b"answer"
    assert script.sent == [b"x", b"y", b"y", b"y"]
    assert channel.reconnects == 1


@pytest.mark.parametrize(("before", "status"), [([], 500), ([b"1"], 404), ([b"1"], 200)])
def test_another_page_is_not_a_split_server(before: list[bytes], status: int) -> None:
    script = Script(answers=[*before, NotASplitServer(status)])
    channel = script.channel("http")
    for _ in before:
        channel.exchange(b"x")
    with pytest.raises(ServerRefused, match="not a split server"):
        channel.exchange(b"y")
    assert script.waits == []


def test_another_way_is_gone_over_a_new_connection() -> None:
    script, route = Script(), Route()
    channel = script.channel(route=route)
    channel.exchange(b"x")
    before = route.id
    channel.reroute(None)
    assert (channel.transport_name, script.closed) == (None, 1)
    assert route.id != before
    channel.reroute(before)
    assert route.id == before
    assert channel.exchange(b"x") == b"answer"


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_a_chosen_transport_is_never_changed(mode: str) -> None:
    script = Script(connects=[LOST, LOST], answers=[LOST, LOST])
    script.channel(mode).exchange(b"x")
    assert set(script.kinds) == {mode}


def test_a_refusal_is_not_tried_again() -> None:
    script = Script(answers=[ServerRefused("unauthorized", "no")])
    with pytest.raises(ServerRefused):
        script.channel().exchange(b"x")
    assert script.waits == []


def test_an_interrupted_exchange_leaves_no_connection_with_an_answer_on_it() -> None:
    script = Script(answers=[KeyboardInterrupt()])
    channel = script.channel()
    with pytest.raises(KeyboardInterrupt):
        channel.exchange(b"x")
    assert script.closed == 1
    assert channel.transport_name is None


def test_waiting_can_be_cancelled() -> None:
    def cancel(_: float) -> None:
        raise Cancelled

    script = Script(answers=[LOST])
    with pytest.raises(Cancelled):
        script.channel(pause=cancel).exchange(b"x")


def test_a_farewell_is_sent_only_over_a_connection_there_is() -> None:
    script = Script()
    channel = script.channel()
    channel.send_once(b"bye", 1)
    channel.exchange(b"x")
    script.answers.append(LOST)
    channel.send_once(b"bye", 1)
    assert script.sent == [b"x", b"bye"]
    assert channel.transport_name is None


def _pong(_: bytes) -> bytes:
    return PONG


@pytest.mark.parametrize(
    ("server", "kind"),
    [
        (lambda: socket_server(_pong), "websocket"),
        (lambda: http_server(post=posting(_pong)), "http"),
    ],
)
def test_over_real_sockets_what_works_is_found(server: Callable[[], Any], kind: str) -> None:
    with server() as endpoint:
        channel = Channel(connector(endpoint, None, 4096))
        assert channel.exchange(PING) == PONG
        assert channel.transport_name == kind
        channel.close()
