"""Grammars of strangers' schemas, each in a process of its own that may be killed."""
