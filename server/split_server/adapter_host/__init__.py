"""Adapters applied to hidden states that only a device can decrypt."""
