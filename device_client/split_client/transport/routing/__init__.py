"""Routing ids: by them a balancer brings all connections of a device to the same machine."""
