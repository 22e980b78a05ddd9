/** Several models of one server. @type {import('../words.js').Dictionary} */
export default {
  Model: 'Modell',
  'Not loaded: whoever chooses it waits for it': 'Nicht geladen: Wer es wählt, wartet darauf',
  'The server loads it now': 'Der Server lädt es gerade',
  Loaded: 'Geladen',
  'About to leave the server’s memory': 'Verlässt gleich den Speicher des Servers',
  'A chat goes on with the model that is chosen; its next message sends all of it. Each model’s ends come to this device once.':
    'Ein Chat geht mit dem gewählten Modell weiter; seine nächste Nachricht sendet ihn ganz. Die Enden jedes Modells kommen einmal auf dieses Gerät.',
  'the server’s first': 'das erste des Servers',
  '{size} on the server': '{size} auf dem Server',
  'its ends are here': 'seine Enden sind hier',
  'Not on this server any more.': 'Nicht mehr auf diesem Server.',
  'The server’s own model': 'Das eigene Modell des Servers',
  'Use the server’s first model': 'Das erste Modell des Servers nehmen',
  'The server loads the model…': 'Der Server lädt das Modell …',
  'The server loads the model; the page goes on by itself.': 'Der Server lädt das Modell; die Seite macht von selbst weiter.',
  'The server loads the model. Waiting for it': 'Der Server lädt das Modell. Warten darauf',
  'This chat was with {was}. {here} goes on with it, and is sent all of it.':
    'Dieser Chat war mit {was}. {here} macht damit weiter und bekommt ihn ganz gesendet.',
  'This chat was with {was}; another model is chosen now.': 'Dieser Chat war mit {was}; jetzt ist ein anderes Modell gewählt.',
  'Go back to {was}': 'Zurück zu {was}',
  'The chat was with another model: choose that one in the settings to have the server delete what it keeps':
    'Der Chat war mit einem anderen Modell: Wählen Sie das in den Einstellungen, damit der Server löscht, was er behält',
};
