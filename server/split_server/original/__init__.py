"""The original protocol's sessions and ends, without sockets."""
