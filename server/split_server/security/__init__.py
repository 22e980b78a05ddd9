"""Who may come in: tokens, hosts, origins and the answers that refuse."""
