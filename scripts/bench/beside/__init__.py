"""Other programs beside what is measured."""
