"""Runs the device's decode loop on an engine of the same process, without a network."""
