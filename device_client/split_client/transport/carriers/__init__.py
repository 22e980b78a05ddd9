"""What carries frames: which kind of connection is worth trying, and the way back to the better."""
