"""How much the replies of a chat looked at each of its tokens: votes, kept with the messages."""
