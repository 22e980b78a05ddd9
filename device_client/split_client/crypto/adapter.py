"""One encrypted adapter on the device: ``h + scale * B (A h)``, where the host computes A h."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet

import numpy as np
from numpy.typing import NDArray

from split_client.adapters.choice import AdapterInfo
from split_client.crypto.ahead import MOST_WAITING, Ahead
from split_client.crypto.errors import AdapterHostInvalid
from split_client.crypto.link import HostLink
from split_client.crypto.making import MaskMaker
from split_client.crypto.reply import AdaptedReply
from split_client.crypto.session import HostSession
from split_client.errors import ClientError
from split_he.layout import Packing

MAX_SCALED_B = 2.0**20
"""Largest magnitude in scale * B; those of adapters that were trained are around 1."""
# Between two looks at whether somebody asked to stop.
_LOOK_SECONDS = 0.05
# As long as keys under way are waited for: a host that is slow with them gets a new request.
_LOOKS = 40


class HostedAdapter:
    """B is fetched once and kept; every reply has keys of its own.

    A dishonest host sees of each reply when it ended, which tells of its keys; so keys are not used
    for another one. Those of the next reply are made, and agreed on with the host, while this one
    goes on, and its masks by ``maker`` once nothing is asked. ``ahead`` None: when the reply
    begins, without masks.

    The first packing is kept for good: a host that could state another bound on the norm for each
    new session would find the norm of a state by which of them it is refused under.
    """

    def __init__(
        self,
        link: HostLink,
        about: AdapterInfo,
        ahead: Ahead | None = None,
        maker: MaskMaker | None = None,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._link, self.about, self._ahead, self._pause = link, about, ahead, pause
        self._maker = maker
        self._scaled_b: NDArray[np.float64] | None = None
        self._agreed: Packing | None = None
        self._next: Future[HostSession] | None = None
        self._ended: list[Callable[[HostLink], None]] = []
        self.sessions_opened = 0

    def reply(self) -> AdaptedReply:
        """What corrects the states of one reply, under keys that no other reply had or will have.

        Raises the errors of ``crypto.errors``, and what ``pause`` raises.
        """
        reply = AdaptedReply(self, self._b(), self._made_ahead())
        reply.prepare()
        return reply

    def open(self) -> HostSession:
        """A session with new keys, now. Raises the errors of ``crypto.errors``."""
        return self._open(self._link)

    @property
    def ready_masks(self) -> int:
        """Of the next reply."""
        made = self._next
        if made is None or not made.done() or made.cancelled() or made.exception() is not None:
            return 0
        return len(made.result().masks)

    def asked(self) -> None:
        """A state is asked for: masks are made when no more are."""
        if self._maker is not None:
            self._maker.asked()

    def prepare_next(self) -> None:
        """Have the next reply's keys made and agreed on, and then its masks, unless that is done
        or under way.
        """
        if self._ahead is not None and self._next is None:
            self._next = self._ahead.begin(self._open)
            self._tell_ended(self._ahead)
            if self._maker is not None:
                self._maker.fill(self._next)

    def close(self) -> None:
        """Forget the keys that were made for the next reply; tell the host of all that ended."""
        self._give_up_next()
        if self._ahead is not None:
            self._tell_ended(self._ahead)

    def end(self, session: HostSession) -> None:
        """Have the host told, with what is asked next, that a session is not needed any more.

        Not at once: it is where a reply begins, whose first token waits for nothing else.
        """
        if self._ahead is not None and len(self._ended) < MOST_WAITING // 2:
            self._ended.append(session.ending())

    def _tell_ended(self, ahead: Ahead) -> None:
        ended, self._ended = self._ended, []
        for tell in ended:
            ahead.begin(tell)

    def _open(self, link: HostLink) -> HostSession:
        tally = None if self._maker is None else self._maker.tally
        session = HostSession.open(link, self.about, agreed=self._agreed, tally=tally)
        self._agreed = session.plan
        self.sessions_opened += 1
        return session

    def _made_ahead(self) -> HostSession | None:
        """The session that was made ahead; None where there is none and one has to be made now."""
        for _ in range(_LOOKS):
            if self._next is None:
                return None
            try:
                session = self._next.result(_LOOK_SECONDS)
            except NotYet:
                self._pause(0.0)
            except (ClientError, CancelledError):
                # Making it now says what is the matter.
                break
            else:
                self._next = None
                session.masks.close()
                session.carry(self._link)
                return session
        self._give_up_next()
        return None

    def _give_up_next(self) -> None:
        made, self._next = self._next, None
        if self._ahead is not None and made is not None:
            # Made by then: what is begun is done one after the other.
            self._ahead.begin(lambda link: _given_up(made.result(0.0), link))

    def _b(self) -> NDArray[np.float64]:
        """scale * B."""
        if self._scaled_b is None:
            scaled = self.about.scale * _fetched(self._link, self.about)
            if np.abs(scaled).max() > MAX_SCALED_B:
                raise AdapterHostInvalid(f"scale * B has values beyond {MAX_SCALED_B:g}")
            self._scaled_b = scaled
        return self._scaled_b


def _given_up(session: HostSession, link: HostLink) -> None:
    session.masks.clear()
    session.ending()(link)


def _fetched(link: HostLink, about: AdapterInfo) -> NDArray[np.float64]:
    """B float64 [H, r]. Raises AdapterHostInvalid and what asking raises."""
    size = 4 * about.hidden_size * about.rank
    data = link.ask("GET", f"/{about.name}/b", size)
    if len(data) != size:
        raise AdapterHostInvalid(f"B has {len(data)} bytes where {size} are needed")
    b = np.frombuffer(data, dtype="<f4").reshape(about.hidden_size, about.rank).astype(np.float64)
    if not np.isfinite(b).all():
        raise AdapterHostInvalid("B has values that are not finite")
    return b
