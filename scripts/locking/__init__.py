"""The lock of dependencies, made again from ``pyproject.toml``."""
