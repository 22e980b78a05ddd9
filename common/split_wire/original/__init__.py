"""The original JSON protocol of GateLink-Split clients, sans I/O: docs/original-protocol.md.

``requests`` parses what such a client sends, ``replies`` formats what it understands.
"""
