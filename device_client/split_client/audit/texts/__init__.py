"""Public texts that an attacker learns from how people write: shipped ones, and lists of packages.

Nothing here comes from the messages that are audited.
"""
