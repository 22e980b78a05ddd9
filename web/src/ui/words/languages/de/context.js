/** How full the context is, and what is left out of it. @type {import('../words.js').Dictionary} */
export default {
  Context: 'Kontext',
  tokens: 'Tokens',
  'How full it is': 'Wie voll er ist',
  'Shown once the model is here and has counted the chat.':
    'Wird gezeigt, sobald das Modell hier ist und den Chat gezählt hat.',
  'about {at} of {all}': 'etwa {at} von {all}',
  '*{words}*, {n} of them the chat template’s.': '*{words}*, davon {n} der Chat-Vorlage.',
  // When it is full.
  'When this chat is full': 'Wenn dieser Chat voll ist',
  Ask: 'Fragen',
  'The oldest parts are proposed, with what that frees and costs.':
    'Die ältesten Teile werden vorgeschlagen, mit dem, was das frei macht und kostet.',
  'Leave out the oldest': 'Das Älteste weglassen',
  'The oldest parts go, to about three quarters of the budget.':
    'Die ältesten Teile gehen, bis auf etwa drei Viertel des Budgets.',
  'Leave out the dimmest': 'Das Blasseste weglassen',
  'What replies looked at least goes first; without attention that is the oldest.':
    'Worauf Antworten am wenigsten sahen, geht zuerst; ohne Attention ist das das Älteste.',
  'Keep what is pinned': 'Angeheftetes behalten',
  'Everything goes that is not pinned.': 'Alles geht, was nicht angeheftet ist.',
  'With noise it is always asked: what is sent again is charged anew.':
    'Mit Rauschen wird immer gefragt: Was noch einmal gesendet wird, wird neu angerechnet.',
  'Budget in tokens': 'Budget in Tokens',
  'For the chat and the beginning of its reply. Empty: all that the model has.':
    'Für den Chat und den Anfang seiner Antwort. Leer: alles, was das Modell hat.',
  'A whole number of tokens, at least {least}; empty: all that the model has.':
    'Eine ganze Zahl von Tokens, mindestens {least}; leer: alles, was das Modell hat.',
  'No reply: the context is full.': 'Keine Antwort: Der Kontext ist voll.',
  'Counting…': 'Wird gezählt …',
  '{at} of {all}: there is room again.': '{at} von {all}: Es ist wieder Platz.',
  '{at} of {all}. Nothing more goes by itself: the first message, the last turn and what is pinned stay.':
    '{at} von {all}. Mehr geht nicht von selbst: Die erste Nachricht, der letzte Austausch und Angeheftetes bleiben.',
  'Leave out and reply': 'Weglassen und antworten',
  'Reply in the room there is': 'Im vorhandenen Platz antworten',
  'Choose what to leave out': 'Wählen, was weggelassen wird',
  'Nothing more goes by itself.': 'Mehr geht nicht von selbst.',
  'Leave out the oldest quarter…': 'Das älteste Viertel weglassen …',
  'Bring all back': 'Alles zurückholen',
  '{parts} left out, {tokens} freed; {again}': '{parts} weggelassen, {tokens} frei geworden; {again}',
  '{n} token is sent again': ['{n} Token wird noch einmal gesendet', '{n} Tokens werden noch einmal gesendet'],
  'Leaving the oldest part out frees {tokens}; {again}.': 'Den ältesten Teil wegzulassen macht {tokens} frei; {again}.',
  'Leaving the oldest {n} parts out frees {tokens}; {again}.':
    'Die ältesten {n} Teile wegzulassen macht {tokens} frei; {again}.',
  'Of the chat, {n} token travels with the next message.':
    ['Vom Chat wird {n} Token mit der nächsten Nachricht gesendet.', 'Vom Chat werden {n} Tokens mit der nächsten Nachricht gesendet.'],
  'With noise up to {n} row is charged anew.':
    ['Mit Rauschen wird bis zu {n} Zeile neu angerechnet.', 'Mit Rauschen werden bis zu {n} Zeilen neu angerechnet.'],
  // What stands in it.
  'What is left out stays in the chat and can be found; other branches with the same message keep it. The system prompt, the first message and the last turn go by hand alone.':
    'Was weggelassen ist, bleibt im Chat und ist zu finden; andere Zweige mit derselben Nachricht behalten es. Der System-Prompt, die erste Nachricht und der letzte Austausch gehen nur von Hand.',
  'Show more of {n}': 'Mehr von {n} zeigen',
  Code: 'Code',
  Parts: 'Teile',
  'And {n} part more.': ['Und {n} weiterer Teil.', 'Und {n} weitere Teile.'],
  'left out': 'weggelassen',
  'in part': 'zum Teil',
  pinned: 'angeheftet',
  'Left out:': 'Weggelassen:',
  'Leave out': 'Weglassen',
  'Pin {name}': '{name} anheften',
  'Unpin {name}': '{name} lösen',
  'Bring back {name}': '{name} zurückholen',
  'Pin message': 'Nachricht anheften',
  'Unpin message': 'Nachricht lösen',
  'Many parts of this message are left out of the context.': 'Viele Teile dieser Nachricht sind aus dem Kontext weggelassen.',
};
