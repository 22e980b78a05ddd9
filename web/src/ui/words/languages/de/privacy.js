/** What the server sees, and noise: the words claim no more than docs/privacy.md. @type {import('../words.js').Dictionary} */
export default {
  // What the server sees.
  'What has travelled': 'Was gesendet wurde',
  Up: 'Hin',
  Down: 'Zurück',
  'In frames of all chats since this page connected; headers and the download of the model are not in it.':
    'In Frames aller Chats, seit diese Seite verbunden ist; Kopfzeilen und der Download des Modells zählen nicht mit.',
  'What the server can learn': 'Was der Server erfahren kann',
  'The server is honest but curious: it knows all weights and our code, keeps all traffic, sees sizes and timing.':
    'Der Server ist ehrlich, aber neugierig: Er kennt alle Gewichte und unseren Code, behält alles Gesendete, sieht Größen und Zeiten.',
  'In *split* mode assume that it can recover the prompt and the reply: embedding rows are invertible by table look-up, and it could run the LM head itself. Split mode moves work and control (sampling, adapters, keys) to the device; it is not confidentiality.':
    'Gehen Sie im *Split*-Modus davon aus, dass er Prompt und Antwort wiederherstellen kann: Embedding-Zeilen lassen sich durch Nachschlagen in der Tabelle umkehren, und den LM-Kopf könnte er selbst rechnen. Der Split-Modus verlagert Arbeit und Kontrolle (Sampling, Adapter, Schlüssel) auf das Gerät; Vertraulichkeit ist er nicht.',
  'Drafts are on: guesses that turn out wrong reach it as rows like others, and how many rows a step has tells it what kind of task this is.':
    'Entwürfe sind an: Was falsch geraten ist, erreicht ihn als Zeilen wie andere, und wie viele Zeilen ein Schritt hat, sagt ihm, welche Art von Aufgabe das ist.',
  'Noise: off in this chat.': 'Rauschen: in diesem Chat aus.',
  'What stays on this device': 'Was auf diesem Gerät bleibt',
  'Saved chats, the seed, sampling settings and logit biases are never sent. The system prompt is part of the prompt. Tokenizer, LM head, sampler and penalties run here.':
    'Gespeicherte Chats, der Startwert, die Einstellungen des Samplings und Logit-Bias werden nie gesendet. Der System-Prompt ist ein Teil des Prompts. Tokenizer, LM-Kopf, Sampler und Strafen laufen hier.',
  Address: 'Adresse',
  'Carried by': 'Übertragen mit',
  'not connected yet': 'noch nicht verbunden',
  'Round trips': 'Umläufe',
  'Numbers travel as': 'Zahlen werden gesendet als',
  'not agreed yet': 'noch nicht vereinbart',
  Session: 'Sitzung',
  '{tokens} cached': '{tokens} im Cache',
  'none open': 'keine offen',
  'Adapter sent': 'Gesendeter Adapter',
  Attention: 'Attention',
  'asked for with each token': 'mit jedem Token verlangt',
  'not asked for': 'nicht verlangt',
  Reconnects: 'Neue Verbindungen',
  'LM head here': 'LM-Kopf hier',
  'not open': 'nicht offen',
  'Model kept in': 'Modell liegt in',
  'not known': 'nicht bekannt',
  'TLS as far as this address; what stands there reads the frames.':
    'TLS bis zu dieser Adresse; was dort steht, liest die Frames.',
  'Without TLS, within this machine.': 'Ohne TLS, innerhalb dieses Rechners.',
  'WITHOUT TLS: whoever is on the way can read what the server can, and the token.':
    'OHNE TLS: Wer auf dem Weg ist, kann lesen, was der Server lesen kann, und das Token.',
  persistent: 'dauerhaft',
  'the browser may clear it when space is short': 'der Browser darf ihn leeren, wenn der Platz knapp ist',
  'the browser may clear it': 'der Browser darf ihn leeren',
  'the browser may clear it; plain http has no say in it': 'der Browser darf ihn leeren; einfaches http redet da nicht mit',
  // Noise.
  Noise: 'Rauschen',
  'Add noise to what this chat sends': 'Rauschen zu dem geben, was dieser Chat sendet',
  'It gives the epsilon that is shown, and nothing more. There is no comfortable setting: noise that protects the prompt of a small model also ruins its replies.':
    'Es gibt das Epsilon, das gezeigt wird, und nicht mehr. Eine bequeme Einstellung gibt es nicht: Rauschen, das den Prompt eines kleinen Modells schützt, verdirbt auch seine Antworten.',
  'What this chat sent before noise was switched on, the server knows.':
    'Was dieser Chat gesendet hat, bevor das Rauschen eingeschaltet wurde, kennt der Server.',
  'Off: the next message sends this whole chat to the server without noise.':
    'Aus: Die nächste Nachricht sendet diesen ganzen Chat ohne Rauschen an den Server.',
  'This chat is in *noised* mode: its rows leave with noise. That gives the displayed (epsilon, delta), for one token and for the whole conversation, and nothing more; split-client audit measures how many tokens its attacks recover at this noise, and better attacks recover more. What is sent again behind an edit has other noise, which the server can average.':
    'Dieser Chat ist im *verrauschten* Modus: Seine Zeilen gehen mit Rauschen hinaus. Das gibt das gezeigte (Epsilon, Delta), für ein Token und für das ganze Gespräch, und nicht mehr; split-client audit misst, wie viele Tokens seine Angriffe bei diesem Rauschen wiederherstellen, und bessere Angriffe stellen mehr wieder her. Was hinter einer Änderung noch einmal gesendet wird, hat anderes Rauschen, das der Server mitteln kann.',
  'Not hidden: the reply, whose states the server computes; the number of tokens, when they are sent, where a text begins to differ from an earlier one, the name of an adapter, requests for attention. The totals are no promise made in advance; a budget is one, for what this chat sends and as long as it is not raised.':
    'Nicht verborgen: die Antwort, deren Zustände der Server berechnet; die Zahl der Tokens, wann sie gesendet werden, wo ein Text von einem früheren abzuweichen beginnt, der Name eines Adapters, Bitten um Attention. Die Summen sind kein Versprechen im Voraus; ein Budget ist eines, für das, was dieser Chat sendet, und solange es nicht erhöht wird.',
  'This page’s own code comes from the server; one that is not honest could leave the noise out. The secret key of this chat’s noise and the record of what was sent lie in this browser until the chat is deleted: a page that this server serves later can read the key and take the noise off what the server has kept. Whoever clears the browser’s data begins to count at nothing, but the server does not forget.':
    'Auch der Code dieser Seite kommt vom Server; ein unehrlicher könnte das Rauschen weglassen. Der geheime Schlüssel des Rauschens dieses Chats und die Aufzeichnung des Gesendeten liegen in diesem Browser, bis der Chat gelöscht wird: Eine Seite, die dieser Server später liefert, kann den Schlüssel lesen und das Rauschen von dem abziehen, was der Server behalten hat. Wer die Daten des Browsers löscht, beginnt bei null zu zählen, aber der Server vergisst nicht.',
  'How much': 'Wie viel',
  'Epsilon of one token': 'Epsilon eines Tokens',
  'When one token is replaced, each time that it is sent. Smaller is more noise.':
    'Wenn ein Token ersetzt wird, jedes Mal, wenn es gesendet wird. Kleiner ist mehr Rauschen.',
  'Of the noise in every value; larger is more noise.': 'Des Rauschens in jedem Wert; größer ist mehr Rauschen.',
  Budget: 'Budget',
  'This chat sends nothing that would bring the epsilon of everything sent with noise from this browser beyond it; chats with another budget or none are not held back. Empty: no bound.':
    'Dieser Chat sendet nichts, was das Epsilon von allem, was dieser Browser mit Rauschen gesendet hat, darüber brächte; Chats mit anderem oder ohne Budget werden nicht aufgehalten. Leer: keine Grenze.',
  'More noise settings': 'Weitere Einstellungen des Rauschens',
  'Clip norm C': 'Kappungsnorm C',
  'Longer rows are scaled down to it. Empty: the norm that 99% of the table’s rows do not exceed.':
    'Längere Zeilen werden auf sie verkleinert. Leer: die Norm, die 99 % der Zeilen der Tabelle nicht überschreiten.',
  'Of every epsilon here. Epsilons at different deltas must not be compared.':
    'Jedes Epsilons hier. Epsilons bei verschiedenen Deltas dürfen nicht verglichen werden.',
  'Other noise is another release: what is sent again after a change here counts anew.':
    'Anderes Rauschen ist eine andere Freigabe: Was nach einer Änderung hier noch einmal gesendet wird, zählt neu.',
  'Set the repetition penalty to 1 first: it looks at the clean prompt, and the reply would tell of it.':
    'Setzen Sie zuerst die Wiederholungsstrafe auf 1: Sie sieht den Prompt ohne Rauschen, und die Antwort würde ihn verraten.',
  'Choose an adapter by its name, or none: “Auto” looks at the clean message, and its choice is sent.':
    'Wählen Sie einen Adapter mit Namen oder keinen: „Auto“ sieht die Nachricht ohne Rauschen, und seine Wahl wird gesendet.',
  'Write it without a comma: it may part thousands or a fraction.':
    'Schreiben Sie es ohne Komma: Es kann Tausender oder einen Bruch abtrennen.',
  'A number above 0.': 'Eine Zahl über 0.',
  'A number above 0 and below {below}.': 'Eine Zahl über 0 und unter {below}.',
  // What it costs.
  'Shown once the model is here.': 'Wird gezeigt, sobald das Modell hier ist.',
  'The model’s table is being looked at…': 'Die Tabelle des Modells wird betrachtet …',
  'Looking at the model’s table for its noise, once: {percent}%':
    'Die Tabelle des Modells wird für sein Rauschen betrachtet, einmal: {percent} %',
  'epsilon {n}': 'Epsilon {n}',
  'without bound (too little noise)': 'ohne Grenze (zu wenig Rauschen)',
  'One token replaced, each time that it is sent': 'Ein Token ersetzt, jedes Mal, wenn es gesendet wird',
  'One token replaced, sent once': 'Ein Token ersetzt, einmal gesendet',
  'One token replaced, sent up to {n} times': 'Ein Token ersetzt, bis zu {n}-mal gesendet',
  'The one row replaced': 'Die eine Zeile ersetzt',
  'All {n} rows replaced': 'Alle {n} Zeilen ersetzt',
  'This chat under its present key, for texts of these lengths':
    'Dieser Chat unter seinem jetzigen Schlüssel, für Texte dieser Längen',
  'Nothing was sent with noise under this key yet.': 'Unter diesem Schlüssel wurde noch nichts mit Rauschen gesendet.',
  'All that is recorded in this browser, for texts of these lengths':
    'Alles, was in diesem Browser aufgezeichnet ist, für Texte dieser Längen',
  'Nothing yet.': 'Noch nichts.',
  '*Budget*, for everything replaced: {spent}.': '*Budget*, wenn alles ersetzt wird: {spent}.',
  '{spent} of {all} spent, room for {rows} more rows': '{spent} von {all} verbraucht, Platz für {rows} weitere Zeilen',
  'over {n}': 'über {n}',
  'Delta of each epsilon: {delta}.': 'Delta jedes Epsilons: {delta}.',
  'Rows clipped to norm C {clip}, Gaussian noise of sigma {sigma} in each of {width} values (sigma/C {ratio}); sensitivity {sensitivity}: {found}.':
    'Zeilen auf Norm C {clip} gekappt, Gaußsches Rauschen von Sigma {sigma} in jedem von {width} Werten (Sigma/C {ratio}); Sensitivität {sensitivity}: {found}.',
  'the largest distance between two clipped rows of the table': 'der größte Abstand zweier gekappter Zeilen der Tabelle',
  'no two clipped rows are farther apart': 'keine zwei gekappten Zeilen liegen weiter auseinander',
  'The model’s own repetition penalty ({penalty}) is off: it looks at the clean prompt.':
    'Die eigene Wiederholungsstrafe des Modells ({penalty}) ist aus: Sie sieht den Prompt ohne Rauschen.',
};
