"""System messages with names: a few that come along, and one's own."""
