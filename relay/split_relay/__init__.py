"""A TCP relay: phones on the local network reach a server that listens on this machine.

Bytes pass through untouched in both directions. ``Relay(RelayConfig(...))`` runs one in the
current event loop; :mod:`split_relay.errors` holds the tree of errors.
"""

from split_relay.address import Address, parse_address
from split_relay.config import RelayConfig
from split_relay.counters import Snapshot
from split_relay.daemon import Relay
from split_relay.errors import RelayError

__all__ = ["Address", "Relay", "RelayConfig", "RelayError", "Snapshot", "parse_address"]
