"""What sessions computed, kept for later ones: named, copied, taken in and forgotten again."""
