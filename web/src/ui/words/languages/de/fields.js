/** The fields of forms and of sampling, and what may be typed into them. @type {import('../words.js').Dictionary} */
export default {
  // The form of replies.
  'Form of replies': 'Form der Antworten',
  Free: 'Frei',
  'JSON object': 'JSON-Objekt',
  'JSON schema': 'JSON-Schema',
  Choices: 'Auswahl',
  'Regular expression': 'Regulärer Ausdruck',
  'Properties come in its order. What cannot be enforced is refused by name.':
    'Eigenschaften kommen in seiner Reihenfolge. Was sich nicht erzwingen lässt, wird mit Namen abgelehnt.',
  'Texts to choose from': 'Texte zur Auswahl',
  'One a line: the reply is one of them.': 'Einer je Zeile: Die Antwort ist einer davon.',
  Pattern: 'Muster',
  'The whole reply matches it, as in [0-9]{4}-[0-9]{2}. No look-around.':
    'Die ganze Antwort passt darauf, wie bei [0-9]{4}-[0-9]{2}. Kein Look-around.',
  'In use.': 'In Gebrauch.',
  'Until it can be used, the form before it holds.': 'Bis sie gelten kann, gilt die Form davor.',
  'Until it can be used, replies are free.': 'Bis sie gelten kann, sind Antworten frei.',
  // Sampling.
  Temperature: 'Temperatur',
  'Higher is more varied; 0 always takes the likeliest token.': 'Höher ist vielfältiger; 0 nimmt immer das wahrscheinlichste Token.',
  'Top k': 'Top k',
  'Only the k likeliest tokens; 0 is off.': 'Nur die k wahrscheinlichsten Tokens; 0 ist aus.',
  'Top p': 'Top p',
  'Only the likeliest tokens that add up to p; 1 is off.': 'Nur die wahrscheinlichsten Tokens, die zusammen p ergeben; 1 ist aus.',
  'Min p': 'Min p',
  'Only tokens at least this likely, relative to the likeliest; 0 is off.':
    'Nur Tokens, die im Verhältnis zum wahrscheinlichsten mindestens so wahrscheinlich sind; 0 ist aus.',
  'Repetition penalty': 'Wiederholungsstrafe',
  'Above 1 makes tokens of prompt and reply rarer.': 'Über 1 macht Tokens aus Prompt und Antwort seltener.',
  'Presence penalty': 'Vorkommensstrafe',
  'Against tokens that the reply has already.': 'Gegen Tokens, die die Antwort schon hat.',
  'Frequency penalty': 'Häufigkeitsstrafe',
  'The more, the more often the reply has them.': 'Umso mehr, je öfter die Antwort sie hat.',
  'Longest reply': 'Längste Antwort',
  'In tokens.': 'In Tokens.',
  'Reset {name} to {value}': '{name} auf {value} zurücksetzen',
  '{name}, slider': '{name}, Schieberegler',
  'A whole number from {low} to {high}.': 'Eine ganze Zahl von {low} bis {high}.',
  'A number from {low} to {high}.': 'Eine Zahl von {low} bis {high}.',
  'A whole number from 0 to 18446744073709551615, or nothing.': 'Eine ganze Zahl von 0 bis 18446744073709551615, oder nichts.',
  'At most {n} texts.': 'Höchstens {n} Texte.',
  'At most {n} tokens.': 'Höchstens {n} Tokens.',
  '“{entry}” is not TOKEN_ID=NUMBER with a number from -100 to 100.':
    '„{entry}“ ist nicht TOKEN_ID=ZAHL mit einer Zahl von -100 bis 100.',
};
