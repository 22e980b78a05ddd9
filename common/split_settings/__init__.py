"""Settings of a program, resolved once: flag, ``SPLIT_*`` variable, TOML file, default.

A program declares one class; :func:`settings` makes it a frozen dataclass and names its TOML table
and environment prefix, :func:`option` makes its fields::

    @settings("relay")
    class RelayConfig:
        max_connections: int = option(256, help="most connections at once", minimum=1)

    add_arguments(parser, RelayConfig)  # --max-connections, --config
    config = load(RelayConfig, parser.parse_args())  # SPLIT_RELAY_MAX_CONNECTIONS, [relay]

Errors::

    SettingsError
    ├── BadValue          a value that its setting cannot take; names the flag, variable or key
    ├── UnknownKey        a key or table in the file that no program knows
    ├── UnreadableFile    the file is missing, too large or not readable
    └── MalformedFile     the file is not TOML
"""

from split_settings.declare import Setting, option, section_of, settings, settings_of
from split_settings.errors import (
    BadValue,
    MalformedFile,
    SettingsError,
    UnknownKey,
    UnreadableFile,
)
from split_settings.flags import add_arguments
from split_settings.resolve import load, resolve
from split_settings.toml_file import default_config_path, find_config, read_config

__all__ = [
    "BadValue",
    "MalformedFile",
    "Setting",
    "SettingsError",
    "UnknownKey",
    "UnreadableFile",
    "add_arguments",
    "default_config_path",
    "find_config",
    "load",
    "option",
    "read_config",
    "resolve",
    "section_of",
    "settings",
    "settings_of",
]
