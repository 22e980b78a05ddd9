"""What stands for a value: drawn from the chat's secret, and refused where it could be mistaken."""
