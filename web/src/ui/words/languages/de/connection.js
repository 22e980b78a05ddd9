/** The way to the first reply, and what is wrong on it. @type {import('../words.js').Dictionary} */
export default {
  // Pairing.
  'Pair this browser': 'Diesen Browser koppeln',
  'Pairing code or token': 'Kopplungscode oder Token',
  'Pairing…': 'Wird gekoppelt …',
  Pair: 'Koppeln',
  'On the machine of the server, `split-server pair` shows a code that counts once, for a few minutes, and a QR code that does all this by itself.':
    'Auf dem Rechner des Servers zeigt `split-server pair` einen Code, der ein paar Minuten lang einmal gilt, und einen QR-Code, der all das von selbst tut.',
  'The server’s owner took back this browser’s access. Pair it again to go on.':
    'Wer den Server betreibt, hat diesem Browser den Zugang entzogen. Koppeln Sie ihn neu, um weiterzumachen.',
  'The server does not accept the token that this browser has. Enter another one, or pair again.':
    'Der Server nimmt das Token dieses Browsers nicht an. Geben Sie ein anderes ein, oder koppeln Sie neu.',
  'This server answers only devices that it knows.': 'Dieser Server antwortet nur Geräten, die er kennt.',
  // The model's ends.
  'Download the ends of {name}': 'Die Enden von {name} herunterladen',
  'Downloading the ends of {name}': 'Die Enden von {name} werden heruntergeladen',
  'Tokenizer, embedding table and LM head come to this device once. Everything between them stays on the server.':
    'Tokenizer, Embedding-Tabelle und LM-Kopf kommen einmal auf dieses Gerät. Alles dazwischen bleibt auf dem Server.',
  Size: 'Größe',
  '{size}, sent as {sent}': '{size}, gesendet als {sent}',
  Licence: 'Lizenz',
  'not said': 'nicht angegeben',
  'Free here': 'Hier frei',
  'Here already': 'Schon hier',
  'That is more than this browser says it can keep.': 'Das ist mehr, als dieser Browser nach eigener Angabe aufbewahren kann.',
  'In this browser’s private files for this page.': 'In den privaten Dateien dieses Browsers für diese Seite.',
  'In this browser’s database for this page.': 'In der Datenbank dieses Browsers für diese Seite.',
  'In memory only: this browser keeps nothing here, so a reload downloads it again.':
    'Nur im Arbeitsspeicher: Dieser Browser behält hier nichts, also wird beim Neuladen alles noch einmal heruntergeladen.',
  'Each piece is checked; a download that stops goes on where it was.':
    'Jedes Stück wird geprüft; ein Download, der anhält, geht da weiter, wo er war.',
  Downloaded: 'Heruntergeladen',
  Pause: 'Anhalten',
  'Connection lost, trying again…': 'Verbindung verloren, neuer Versuch …',
  'Waiting for the server…': 'Warten auf den Server …',
  '{size}/s, {time} left': '{size}/s, noch {time}',
  'Go on ({size} left)': 'Weiter (noch {size})',
  'Download {size}': '{size} herunterladen',
  // What is in the way.
  'The server cannot be reached': 'Der Server ist nicht zu erreichen',
  'The server cannot be reached.': 'Der Server ist nicht zu erreichen.',
  'The server cannot be reached. Saved chats can be read.':
    'Server nicht erreichbar. Gespeicherte Chats lassen sich lesen.',
  'Saved chats can be read meanwhile.': 'Gespeicherte Chats lassen sich solange lesen.',
  'The page tries again by itself; saved chats can be read meanwhile.':
    'Die Seite versucht es von selbst wieder; gespeicherte Chats lassen sich solange lesen.',
  'Try now': 'Jetzt versuchen',
  'That did not work': 'Das ging nicht',
  'Code: {code}': 'Code: {code}',
  'Delete the model here': 'Das Modell hier löschen',
  'Connecting to the server…': 'Verbindung zum Server wird aufgebaut …',
  'This browser is not paired with the server yet.': 'Dieser Browser ist noch nicht mit dem Server gekoppelt.',
  'The model’s ends are not on this device yet.': 'Die Enden des Modells sind noch nicht auf diesem Gerät.',
  'The model’s ends are still on their way.': 'Die Enden des Modells sind noch unterwegs.',
  'The model is being prepared…': 'Das Modell wird vorbereitet …',
  'Something is in the way; see above.': 'Etwas steht im Weg; siehe oben.',
  'Waiting for a place on the server': 'Warten auf einen Platz auf dem Server',
  'All places on the server are taken. Waiting for one': 'Alle Plätze auf dem Server sind besetzt. Warten auf einen',
  'The server’s memory is full. Waiting for room': 'Der Speicher des Servers ist voll. Warten auf Platz',
  'The server is busy. Waiting for it': 'Der Server ist beschäftigt. Warten auf ihn',
  'Connection lost ({reason}). Reconnecting, try {attempt}':
    'Verbindung verloren ({reason}). Sie wird neu aufgebaut, Versuch {attempt}',
  '{what}; next try in {n} s.': '{what}; nächster Versuch in {n} s.',
  'Connected again; the reply goes on': 'Wieder verbunden; die Antwort geht weiter',
  'The server had lost this chat’s cache; it was sent again.':
    'Der Server hatte den Cache dieses Chats verloren; er wurde noch einmal gesendet.',
  'Plain http: anyone on the way reads along, the token too. No install, no opening offline, slower storage.':
    'Einfaches http: Jeder auf dem Weg liest mit, auch das Token. Kein Installieren, kein Öffnen ohne Netz, langsamerer Speicher.',
  Hide: 'Ausblenden',
  'This chat is not saved, and may be gone when the page is closed.':
    'Dieser Chat ist nicht gespeichert und kann weg sein, wenn die Seite geschlossen wird.',
  '“{title}” is not saved, and may be gone when the page is closed.':
    '„{title}“ ist nicht gespeichert und kann weg sein, wenn die Seite geschlossen wird.',
  'Export this chat': 'Diesen Chat exportieren',
  'Export that chat': 'Jenen Chat exportieren',
  'Save again': 'Noch einmal speichern',
  'This part could not be loaded; reload the page': 'Dieser Teil konnte nicht geladen werden; laden Sie die Seite neu',
};
