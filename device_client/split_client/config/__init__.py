"""Settings of the commands: flags, then ``SPLIT_CLIENT_*``, then the table ``[client]``."""
