/** Redaction: the words claim no more than docs/redaction.md. @type {import('../words.js').Dictionary} */
export default {
  Redaction: 'Schwärzung',
  'Replace names, numbers and addresses in what this chat sends':
    'Namen, Nummern und Adressen in dem ersetzen, was dieser Chat sendet',
  'They become others of the same kind on this device, and the real ones again in what you see of the reply. Names that it does not know are sent as they are; it hides no facts about who is meant, and no lengths.':
    'Sie werden auf diesem Gerät zu anderen derselben Art, und in dem, was Sie von der Antwort sehen, wieder zu den echten. Namen, die sie nicht kennt, werden gesendet, wie sie sind; sie verbirgt nichts von dem, was sagt, wer gemeint ist, und keine Längen.',
  'Off: the next message sends this whole chat to the server with its values.':
    'Aus: Die nächste Nachricht sendet diesen ganzen Chat mit seinen echten Werten an den Server.',
  'What this chat sent before redaction was switched on, the server knows.':
    'Was dieser Chat gesendet hat, bevor die Schwärzung eingeschaltet wurde, kennt der Server.',
  '{n} value was in it:': ['{n} Wert war darin:', '{n} Werte waren darin:'],
  'None of the values that are known now was in it.': 'Keiner der Werte, die jetzt bekannt sind, war darin.',
  'Names of your own': 'Eigene Namen',
  'Names of your own…': 'Eigene Namen …',
  'One person a line, as Anna Schmidt. Kept in this browser with your settings and with the chat.':
    'Eine Person je Zeile, wie Anna Schmidt. In diesem Browser bei Ihren Einstellungen und beim Chat gespeichert.',
  'At most {n} names.': 'Höchstens {n} Namen.',
  '“{name}” has no word of two Latin letters that could be a name.':
    '„{name}“ hat kein Wort aus zwei lateinischen Buchstaben, das ein Name sein könnte.',
  'What is replaced': 'Was ersetzt wird',
  Names: 'Namen',
  'Phone numbers': 'Telefonnummern',
  'E-mail addresses': 'E-Mail-Adressen',
  'Postal addresses': 'Postanschriften',
  'Card numbers': 'Kartennummern',
  'National ids': 'Ausweis-, Steuer- und Versicherungsnummern',
  'Dates, as those of birth': 'Daten, wie die der Geburt',
  'First name': 'Vorname',
  Surname: 'Nachname',
  'Phone number': 'Telefonnummer',
  'E-mail address': 'E-Mail-Adresse',
  Street: 'Straße',
  Place: 'Ort',
  'Card number': 'Kartennummer',
  'National id': 'Persönliche Kennnummer',
  Date: 'Datum',
  Countries: 'Länder',
  'Whose phone numbers and ids are known without the code of the country, the first first: DE, AT.':
    'Deren Telefon- und Kennnummern auch ohne Vorwahl des Landes erkannt werden, das wichtigste zuerst: DE, AT.',
  '{code} is no country’s two letters, like DE.': '{code} sind nicht die zwei Buchstaben eines Landes, wie DE.',
  'At most 16 countries.': 'Höchstens 16 Länder.',
  'What goes out': 'Was gesendet wird',
  'Goes out as:': 'Gesendet wird:',
  'Redaction is on.': 'Die Schwärzung ist an.',
  'Nothing replaced': 'Nichts ersetzt',
  '{n} value replaced': ['{n} Wert ersetzt', '{n} Werte ersetzt'],
  'Redaction is off: this chat goes out as it is.': 'Die Schwärzung ist aus: Dieser Chat wird gesendet, wie er ist.',
  'The message that is being written': 'Die Nachricht, die gerade geschrieben wird',
  'Nothing is written yet.': 'Noch ist nichts geschrieben.',
  'Only the beginning is shown; all of it is replaced.': 'Gezeigt wird nur der Anfang; ersetzt wird in allem.',
  'What it does not do': 'Was sie nicht tut',
  'Names that it does not know are sent as they are: your own list closes that gap. What is written about somebody travels as it is. The server sees which surrogate stands where, that it is the same one again, the country of a phone number or an IBAN, and how long everything is; it can recognise surrogates.':
    'Namen, die sie nicht kennt, werden gesendet, wie sie sind: Diese Lücke schließt Ihre eigene Liste. Was über jemanden geschrieben steht, wird gesendet, wie es ist. Der Server sieht, welcher Ersatz wo steht, dass es wieder derselbe ist, das Land einer Telefonnummer oder IBAN und wie lang alles ist; er kann Ersatz als solchen erkennen.',
  'Values come back in visible text alone, never in addresses of links and pictures or in HTML: a reply could lead them away. Assume that the server can recover the prompt, as it was sent, and the reply.':
    'Echte Werte kommen nur in sichtbarem Text zurück, nie in Adressen von Links und Bildern oder in HTML: Eine Antwort könnte sie sonst fortführen. Gehen Sie davon aus, dass der Server den Prompt, wie er gesendet wurde, und die Antwort wiederherstellen kann.',
  'What stands for what': 'Was wofür steht',
  'No value was found yet.': 'Noch wurde kein Wert gefunden.',
  'Saved with this chat in this browser, and exported with it; deleted with it. It is as private as the chat.':
    'Mit diesem Chat in diesem Browser gespeichert und mit ihm exportiert; mit ihm gelöscht. Es ist so vertraulich wie der Chat.',
  'Redaction is on in this chat: the prompt that it can recover is the one that was sent, with surrogates in place of the values that were found.':
    'In diesem Chat ist die Schwärzung an: Der Prompt, den er wiederherstellen kann, ist der gesendete, mit Ersatz an der Stelle der Werte, die gefunden wurden.',
  'What it had is shown: surrogates stand in place of your values.':
    'Gezeigt wird, was es hatte: An der Stelle Ihrer Werte steht Ersatz.',
};
