"""What drafting costs the device, and what it gains on networks whose time is computed."""
