"""Parts of a text that are found by what they say, whatever comes before them."""
