"""The device's keys, and adapters that a host applies to encrypted hidden states."""
