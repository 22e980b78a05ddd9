// Imports and exports chats on request of another language. JSON on stdin:
// {"documents": [text], "contents": [[content]]}; on stdout, for each document, the messages, the title and the
// chat exported again (or the code of the error), and for each list of contents the export of a chat that was
// talked, edited and undone with them, of which the first character is dropped and the last message is pinned.
import { readFileSync } from 'node:fs';
import { drop, pin, places } from '../../../src/chats/context/changes.js';
import { exportChat, importChat } from '../../../src/chats/documents.js';
import { AppError } from '../../../src/common/errors.js';
import { editMessage, kept, newChat, path, reply, say, undo } from '../../../src/chats/tree.js';

/** @param {string} text */
function imported(text) {
  try {
    const chat = importChat(text);
    return { messages: kept(chat), title: chat.title, model: chat.model, exported: exportChat(chat) };
  } catch (error) {
    if (error instanceof AppError) return { code: error.code };
    throw error;
  }
}

/** @param {string[]} contents */
function grown([system, ...contents]) {
  let chat = newChat({ system, model: 'tiny' });
  for (const content of contents) {
    chat = reply(say(chat, content), `${content} (answered)`, { reason: 'eos', stats: { tokens: 3 } });
    chat = reply(editMessage(chat, path(chat)[0].id, `${content} (edited)`), `${content} (again)`);
    chat = undo(reply(say(chat, 'undone'), 'gone'));
  }
  const all = places(chat);
  chat = pin(drop(chat, [[all[0], [[0, 1]]]]), all[all.length - 1], true);
  return { messages: kept(chat), exported: exportChat(chat) };
}

const { documents, contents } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify({ documents: documents.map(imported), grown: contents.map(grown) }));
