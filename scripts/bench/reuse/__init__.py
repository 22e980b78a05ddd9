"""What a second chat saves by what an earlier one left with the server."""
