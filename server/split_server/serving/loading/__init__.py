"""Models loaded beside others: what each needs of the memory that there is, and its parts."""
