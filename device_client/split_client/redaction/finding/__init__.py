"""Values in a folded text, a file for each kind."""
