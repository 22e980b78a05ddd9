"""What is counted, on arrays and lists alone."""
