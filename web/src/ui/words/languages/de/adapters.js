/** Adapters that a host computes on ciphertexts: the words claim no more than docs/privacy.md. @type {import('../words.js').Dictionary} */
export default {
  '{name} at {host}, encrypted': '{name} bei {host}, verschlüsselt',
  'Adapters of {host}, encrypted': 'Adapter von {host}, verschlüsselt',
  'Show its adapters': 'Seine Adapter zeigen',
  'Ask again': 'Noch einmal fragen',
  'Asking the host…': 'Der Host wird gefragt …',
  'It has none for this model.': 'Er hat keinen für dieses Modell.',
  '*CKKS adapters* hide the hidden state from the adapter’s owner when that owner is not the server. This page’s own code comes from the model’s server, so this protects from the adapter’s owner alone.':
    '*CKKS-Adapter* verbergen den Zustand vor dem, dem der Adapter gehört, wenn das nicht der Server ist. Der Code dieser Seite kommt vom Server des Modells, also schützt das nur vor dem, dem der Adapter gehört.',
  // What it takes to be let in.
  'Pairing code or token of {host}': 'Kopplungscode oder Token von {host}',
  'Pair with the host': 'Mit dem Host koppeln',
  'On the machine of the host, `split-server pair --state DIR` shows a code; DIR is the folder that it was started with.':
    'Auf dem Rechner des Hosts zeigt `split-server pair --state DIR` einen Code; DIR ist der Ordner, mit dem er gestartet wurde.',
  'Forget the token for {host}': 'Das Token für {host} vergessen',
  // What it sees.
  'What the adapter host sees': 'Was der Adapter-Host sieht',
  '{host} sees ciphertexts under keys that each reply has of its own, a public key, which adapter, your token’s name, how many tokens and when; no hidden state, text or token. The model’s server is not told that there is an adapter.':
    '{host} sieht Chiffrate unter Schlüsseln, die jede Antwort für sich hat, einen öffentlichen Schlüssel, welcher Adapter es ist, den Namen Ihres Tokens, wie viele Tokens und wann; keinen Zustand, keinen Text und kein Token. Dem Server des Modells wird nicht mitgeteilt, dass es einen Adapter gibt.',
  'Up {sent}, down {received}, since this page connected.': 'Hin {sent}, zurück {received}, seit diese Seite verbunden ist.',
};
