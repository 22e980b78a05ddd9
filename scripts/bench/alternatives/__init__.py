"""What keeping the alternatives of tokens costs."""
