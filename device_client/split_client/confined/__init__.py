"""Processes with limits of memory and time, for what strangers wrote."""
