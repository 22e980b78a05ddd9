"""What of a chat later replies see: its places in positions, and policies that propose spans."""
