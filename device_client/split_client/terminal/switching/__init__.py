"""Choosing among the models of a server, and going on with a chat at another one."""
