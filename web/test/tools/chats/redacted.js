// A chat with redaction as a document, on request of another language. JSON on stdin: {"said": text, "regions", "names"};
// on stdout its "document", in which the reply says again what was said, and "sent", what went out for the message.
import { readFileSync } from 'node:fs';
import { exportChat } from '../../../src/chats/documents.js';
import { begunRedaction } from '../../../src/chats/redaction/begun.js';
import { newChat, reply, say } from '../../../src/chats/tree.js';
import { firstRedaction } from '../../../src/settings/redaction.js';
import { Redactor } from '../../../src/redaction/redactor.js';

const { said, regions, names } = JSON.parse(readFileSync(0, 'utf8'));
const redaction = begunRedaction({ ...firstRedaction([]), regions, names });
if (!redaction) throw new Error('it is on');
const secret = Uint8Array.from(redaction.secret.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const redactor = new Redactor(redaction, secret, []);
const { text: sent } = await redactor.redacted(said, []);
const wrote = `You said: ${sent}`;
const chat = { ...newChat({ model: 'tiny' }), redaction: { ...redaction, entries: redactor.entries.all } };
const answered = reply(say(chat, said), redactor.undone(wrote).text, { reason: 'eos', sent: wrote });
process.stdout.write(JSON.stringify({ document: exportChat(answered), sent }));
