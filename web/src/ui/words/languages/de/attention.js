/** What replies looked at, and how likely they were. @type {import('../words.js').Dictionary} */
export default {
  '“{text}”': '„{text}“',
  '{n}%': '{n}\u00a0%',
  '<{n}%': '<{n}\u00a0%',
  // The switch.
  'Show what each token looked at': 'Zeigen, worauf jedes Token sah',
  'The server sends the attention of each token along: {cost}. Replies have no drafts meanwhile. What each looked at is kept here for the latest reply, never saved; how bright the chat is to them is saved with it.':
    'Der Server sendet die Attention jedes Tokens mit: {cost}. Antworten haben solange keine Entwürfe. Worauf jedes sah, wird hier für die letzte Antwort behalten, nie gespeichert; wie hell der Chat für sie ist, wird mit ihm gespeichert.',
  'at most 600 B per token': 'höchstens 600 B je Token',
  'at most 600 B per token, from an older server {size} per token after 1,000 tokens':
    'höchstens 600 B je Token, von einem älteren Server {size} je Token nach 1.000 Tokens',
  'This server does not tell attention; replies come without it.':
    'Dieser Server teilt keine Attention mit; Antworten kommen ohne sie.',
  'The attention of this chat is too large for one answer; replies come without it.':
    'Die Attention dieses Chats ist zu groß für eine Sendung; Antworten kommen ohne sie.',
  'The server told attention that cannot be true; the reply goes on without it.':
    'Der Server hat eine Attention mitgeteilt, die nicht stimmen kann; die Antwort geht ohne sie weiter.',
  'What keeps the attention could not be loaded; reload the page.':
    'Was die Attention behält, konnte nicht geladen werden; laden Sie die Seite neu.',
  // Of one reply.
  'What it looked at': 'Worauf sie sah',
  'It is not there any more: it is kept for the latest reply, until the page is loaded again.':
    'Sie ist nicht mehr da: Sie wird für die letzte Antwort behalten, bis die Seite neu geladen wird.',
  'Waiting for the first token…': 'Warten auf das erste Token …',
  'This reply came without attention.': 'Diese Antwort kam ohne Attention.',
  'The softmax weights of the step that chose a token, over all tokens before it: the mean of all heads of all layers, of which the 76 largest are sent. Not saved, and gone with the next reply.':
    'Die Softmax-Gewichte des Schritts, der ein Token wählte, über alle Tokens davor: das Mittel aller Köpfe aller Schichten, von dem die 76 größten gesendet werden. Nicht gespeichert, und mit der nächsten Antwort fort.',
  'Of the first {tokens} it is not kept any more: 16 MB are.':
    'Für die ersten {tokens} ist sie nicht mehr da: 16 MB werden behalten.',
  'Whose attention': 'Wessen Attention',
  'Whole reply': 'Ganze Antwort',
  'One token': 'Ein Token',
  'Choose a token of the reply to see what it looked at.': 'Wählen Sie ein Token der Antwort, um zu sehen, worauf es sah.',
  'Token of the reply': 'Token der Antwort',
  'Token before': 'Voriges Token',
  'Next token': 'Nächstes Token',
  '{n} earlier token not shown.': ['{n} früheres Token nicht gezeigt.', '{n} frühere Tokens nicht gezeigt.'],
  'Prompt and reply. The arrow keys choose a token of the reply.':
    'Prompt und Antwort. Die Pfeiltasten wählen ein Token der Antwort.',
  'Colours, from the weakest to the strongest, begin at': 'Farben, von der schwächsten zur stärksten, beginnen bei',
  '% of the largest': '% des größten',
  'On average, the reply looked at': 'Im Mittel sah die Antwort auf',
  'To choose {token}, it looked at': 'Für die Wahl von {token} sah sie auf',
  'To choose {token}, it looked at by layer {layer}, head {head}':
    'Für die Wahl von {token} sah sie mit Schicht {layer}, Kopf {head} auf',
  'What was looked at to choose {token} is not kept.': 'Worauf für die Wahl von {token} gesehen wurde, ist nicht behalten.',
  '{first} on the first position, {template} on the chat template.':
    '{first} auf die erste Position, {template} auf die Chat-Vorlage.',
  // In the conversation.
  'Tint by what was looked at': 'Färben nach dem, worauf gesehen wurde',
  'What replies looked at': 'Worauf Antworten sahen',
  'This browser cannot colour parts of a text; the places are named here.':
    'Dieser Browser kann Teile eines Textes nicht färben; die Stellen stehen hier.',
  'Choose no token': 'Kein Token wählen',
  'There is no reply to look at yet.': 'Es gibt noch keine Antwort zu betrachten.',
  'Tap a word of a reply to see what it looked at.': 'Tippen Sie auf ein Wort einer Antwort, um zu sehen, worauf es sah.',
  'Asking…': 'Wird gefragt …',
  'not shown as text': 'nicht als Text gezeigt',
  'Rows are kept for the latest reply alone, if it was made with “Show what each token looked at”, until the page is loaded again.':
    'Zeilen werden nur für die letzte Antwort behalten, wenn sie mit „Zeigen, worauf jedes Token sah“ entstand, bis die Seite neu geladen wird.',
  'A chat with noise fetches none: what it sent would be sent once more.':
    'Ein Chat mit Rauschen holt keine: Was er gesendet hat, würde noch einmal gesendet.',
  'Fetch every head of this token': 'Alle Köpfe dieses Tokens holen',
  'Fetching…': 'Wird geholt …',
  'In a session of its own: {cost}.': 'In einer eigenen Sitzung: {cost}.',
  '2 bytes down for each of the heads of {layers} and each token before it':
    '2 Byte zurück für jeden der Köpfe von {layers} und jedes Token davor',
  'at most {down} down, and {up} up where the server has not kept what stands before it':
    'höchstens {down} zurück, und {up} hin, wo der Server nicht behalten hat, was davor steht',
  'Far back, along the latest reply': 'Weit zurück, entlang der letzten Antwort',
  'Export as {kind}': 'Als {kind} exportieren',
  'You, message {n}': 'Sie, Nachricht {n}',
  'Reply, message {n}': 'Antwort, Nachricht {n}',
  '{share} of the chat has faded': '{share} des Chats sind verblasst',
  'Nothing has faded yet': 'Noch ist nichts verblasst',
  '{n}% bright': '{n} % hell',
  'Bright: {bright} of the tokens, dim: {dim}, dimmer: {dimmer}, dimmest: {dimmest}. What replies look at grows brighter.':
    'Hell: {bright} der Tokens, blass: {dim}, blasser: {dimmer}, am blassesten: {dimmest}. Worauf Antworten sehen, wird heller.',
  // Layers and heads.
  'Layers and heads': 'Schichten und Köpfe',
  'All heads again': 'Wieder alle Köpfe',
  'No token is chosen any more.': 'Es ist kein Token mehr gewählt.',
  'What each head looked at to choose {token}, from the beginning of the chat (left) to that token (right), without the first position. Each is drawn by its own largest weight. One of them can be seen alone.':
    'Worauf jeder Kopf für die Wahl von {token} sah, vom Anfang des Chats (links) bis zu diesem Token (rechts), ohne die erste Position. Jeder ist nach seinem eigenen größten Gewicht gezeichnet. Einer davon lässt sich allein ansehen.',
  Layers: 'Schichten',
  'Layer {n}': 'Schicht {n}',
  '{from} to {to}': '{from} bis {to}',
  'the chat template': 'die Chat-Vorlage',
  'Layer {layer}, head {head}: most on {words}, {share}': 'Schicht {layer}, Kopf {head}: am meisten auf {words}, {share}',
  // How likely.
  'How likely it was': 'Wie wahrscheinlich sie war',
  'Its tokens are not there any more: they are kept for the newest replies, until the page is loaded again.':
    'Ihre Tokens sind nicht mehr da: Sie werden für die neuesten Antworten behalten, bis die Seite neu geladen wird.',
  'The reply. The arrow keys choose a token.': 'Die Antwort. Die Pfeiltasten wählen ein Token.',
  'Choose a token to see what else could have come.': 'Wählen Sie ein Token, um zu sehen, was sonst hätte kommen können.',
  'Colours, from expected to surprising, by probability in percent:':
    'Farben, von erwartet bis überraschend, nach der Wahrscheinlichkeit in Prozent:',
  '% probable': '% wahrscheinlich',
  'Most surprising': 'Am überraschendsten',
  'Go on with another one': 'Mit einem anderen weiter',
  said: 'gesagt',
  'Of this token it is not kept: a form left no choice, or newer replies needed the room.':
    'Für dieses Token ist es nicht behalten: Eine Form ließ keine Wahl, oder neuere Antworten brauchten den Platz.',
  '{token}: not kept.': '{token}: nicht behalten.',
  '{token} {chance}. Likeliest: {others}': '{token} {chance}. Am wahrscheinlichsten: {others}',
  'The rest is worked out when the reply that is being written has ended.':
    'Der Rest wird berechnet, wenn die Antwort, die gerade geschrieben wird, zu Ende ist.',
  'The model’s own probabilities, before temperature, filters, penalties and forms, worked out on this device: nothing travels. They are kept for the newest replies, never saved.':
    'Die eigenen Wahrscheinlichkeiten des Modells, vor Temperatur, Filtern, Strafen und Formen, auf diesem Gerät berechnet: Nichts wird gesendet. Sie werden für die neuesten Antworten behalten, nie gespeichert.',
  'With noise they are those of the noised rows; a chosen token is one more row, and counts as one.':
    'Mit Rauschen sind es die der verrauschten Zeilen; ein gewähltes Token ist eine Zeile mehr und zählt als eine.',
};
