"""The lists of split_client/redaction/data that are made from public ones."""
