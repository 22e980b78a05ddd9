"""Access to the server: tokens, hosts, origins and the answers that refuse."""
