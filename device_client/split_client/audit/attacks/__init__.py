"""The attacker: recorded bytes, public files, and sessions of its own at the same server.

Nothing here imports the rooms that hold the truth (``split_client.audit.device``).
"""
