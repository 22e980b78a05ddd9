"""The device under attack: it knows the prompts, sends them as the product does, and records.

Nothing in ``split_client.audit.attacks`` may import this package.
"""
