"""Which tools a model may, must or must not call, in the spellings that clients have."""
