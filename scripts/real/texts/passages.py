"""Short passages that tasks are about: prose, and Python with a fault or a change to make."""

PASSAGES = (
    "The harbour of Elmsworth was built in 1882 by the engineer Clara Whitfield. It has two stone "
    "piers, a lighthouse at the end of the northern one, and room for sixty fishing boats. A storm "
    "in the winter of 1953 broke the southern pier, and for four years only small boats could "
    "enter. Today most of the boats carry visitors to the seal banks, and the old ice house is a "
    "museum that opens from May to September.",
    "Bees tell each other where flowers are by dancing. A bee that has found food runs in a "
    "straight line across the comb, shaking its body, then walks back in a half circle and begins "
    "again. The direction of the line shows the angle between the sun and the food, and the time "
    "of the run shows how far away it is. Other bees follow the dancer in the dark and then fly "
    "out to the same field.",
    "The library of Norton will close for repairs on 14 March and open again on 2 June. Books that "
    "are due in between may be returned until 16 June without a fee. During the repairs a bus with "
    "two thousand books will stop at the market square every Tuesday and Friday from ten to four. "
    "Reading hours for children take place in the town hall on Saturdays at eleven.",
    "Bread needs four things: flour, water, salt and time. Mix five hundred grams of flour with "
    "three hundred and fifty grams of water and ten grams of salt, add a spoon of sourdough, and "
    "let the dough rest for twelve hours in a cool place. Fold it twice, shape it into a loaf, and "
    "let it rise for one more hour. Bake it for forty minutes in a very hot oven with a bowl of "
    "water.",
    "The company Brightwell makes bicycle lamps in a small factory near Leeds. It was founded in "
    "1998 by Tom Reed and Anna Osei, who had met at a bicycle race. It has forty-two employees, "
    "sells lamps to nineteen countries and made a profit of 1.2 million pounds last year. Its "
    "newest lamp charges in twenty minutes and lasts for nine hours.",
    "Glaciers are rivers of ice. Snow that falls high in the mountains is pressed by the snow "
    "above it until it turns into ice, and the ice flows slowly down the valley, a few "
    "centimetres to a few metres a day. It carries stones that scratch the rock below. Where the "
    "ice melts, the stones are left behind in long walls that are called moraines.",
)

CODE = (
    """def average(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)
""",
    """def find(items, name):
    for item in items:
        if item['name'] == name:
            return item
    return None
""",
    """class Counter:
    def __init__(self):
        self.count = 0

    def add(self, amount):
        self.count = self.count + amount

    def reset(self):
        self.count = 0
""",
    """def read_lines(path):
    file = open(path)
    lines = file.readlines()
    file.close()
    return [line.strip() for line in lines]
""",
    """def is_prime(number):
    for divisor in range(2, number):
        if number % divisor == 0:
            return False
    return True
""",
    """def grade(points):
    if points > 90:
        return 'A'
    if points > 80:
        return 'B'
    if points > 70:
        return 'C'
    return 'D'
""",
)
