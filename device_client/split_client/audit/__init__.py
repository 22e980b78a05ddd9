"""What a server sees, recorded and attacked."""
