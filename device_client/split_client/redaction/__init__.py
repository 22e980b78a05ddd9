"""Surrogates for names, numbers and addresses, put in and undone on the device (docs/redaction.md).

``redactor`` is the whole for one chat; ``finding`` finds values in a text, ``surrogates`` makes
what stands for them, ``undoing`` puts them back, and never where a link could carry them away.
"""
