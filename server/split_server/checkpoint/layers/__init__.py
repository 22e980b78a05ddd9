"""The layer file: a model's decoder layers one after the other, made to be read again and again."""
