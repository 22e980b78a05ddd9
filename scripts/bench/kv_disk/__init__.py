"""What is kept on disk: what reading it costs, and what it stands."""
