"""Devices and hosts ended by SIGKILL at any step, and whether any mask was used twice."""
