"""What of a chat travels to the model: units that are left out, and a budget that chooses them."""
