"""Several models in one process: their names, their rooms, and who loads and lets them go."""
