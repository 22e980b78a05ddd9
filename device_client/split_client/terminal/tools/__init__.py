"""Tools in the terminal: bound to commands and servers, shown, and asked for."""
