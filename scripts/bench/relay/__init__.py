"""Throughput and round trip of the relay."""
