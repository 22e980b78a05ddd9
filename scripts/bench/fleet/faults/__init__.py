"""Replicas that are killed, frozen, replaced and gone, with devices in mid-reply."""
