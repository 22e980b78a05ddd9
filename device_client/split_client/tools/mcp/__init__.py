"""A client of the Model Context Protocol, for tools alone: initialize, list, call.

Over standard input and output of a program, and over streamable HTTP. Source: the specification of
2025-06-18, modelcontextprotocol.io. What a server asks of a client, it is refused.
"""
