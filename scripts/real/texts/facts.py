"""Passages with a question each, whose answer stands in them; what precedes them in a prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """``answer``: a word of a right answer, in lower case."""

    passage: str
    question: str
    answer: str


# Each passage is read behind one of these and used again behind the other.
FIRST = "Here is a page of a notebook. Read it with care.\n\n"
SECOND = (
    "Below are some notes that were collected over the summer. They are in no order, and some of "
    "them are about other things. Use them to answer the question at the end in one sentence.\n\n"
)

_MADE = (
    ("The ferry to Skarholm leaves at seven in the morning and carries mail, milk and cars.",
     "What time does the ferry to Skarholm leave?", "seven"),
    ("Mrs. Alder keeps eleven goats behind the mill and sells their cheese on Fridays.",
     "How many goats does Mrs. Alder keep?", "eleven"),
    ("The bridge over the Tarn is painted green every five years by a crew from Millau.",
     "What colour is the bridge over the Tarn painted?", "green"),
    ("The town clock of Verden was built by Jakob Stern, who also made the bells of the church.",
     "Who built the town clock of Verden?", "stern"),
    ("The museum keeps a violin of 1721 in a glass case beside the stairs of the second floor.",
     "What does the museum keep in a glass case?", "violin"),
    ("Old maps show a lake west of the village, but it was drained in 1906 to make meadows.",
     "When was the lake drained?", "1906"),
    ("The bakery in Rose Lane makes its best bread with rye, honey and a little salt.",
     "Where is the bakery?", "rose"),
    ("The night train to Lisbon has a dining car, and its cook comes from Porto.",
     "Where does the cook of the night train come from?", "porto"),
    ("The school garden grows beans, carrots and, since last spring, a row of sunflowers.",
     "What does the school garden grow since last spring?", "sunflower"),
    ("Doctor Imani visits the island on Tuesdays with a red boat and a heavy bag.",
     "On which day does Doctor Imani visit the island?", "tuesday"),
    ("The tallest tree of the park is an oak, which is said to be four hundred years old.",
     "What kind of tree is the tallest tree of the park?", "oak"),
    ("The radio station plays jazz from nine to midnight and the news at six.",
     "What does the radio station play from nine to midnight?", "jazz"),
    ("The winner of the race was Lena Frost, who had trained on the hills near Graz.",
     "Who was the winner of the race?", "frost"),
    ("The hotel has thirty rooms, a small pool and a view of the volcano.",
     "How many rooms does the hotel have?", "thirty"),
    ("The key to the boathouse hangs behind the kitchen door next to the lamp.",
     "Where does the key to the boathouse hang?", "kitchen"),
    ("The book was written in Vienna by a teacher of mathematics and sold six copies.",
     "Where was the book written?", "vienna"),
)  # fmt: skip

FACTS = tuple(Fact(*one) for one in _MADE)
