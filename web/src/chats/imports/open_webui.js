/**
 * Chats as Open WebUI exports them: a list in which each has a `chat` with a `history` of `messages` by id (`parentId`,
 * `childrenIds`, `role`, `content`) and the `currentId`. Text alone is taken, never HTML.
 */
import { ConversationFileInvalid } from '../errors.js';
import { isRecord } from '../plain.js';
import { MAX_NODES } from '../tree.js';
import { chatOf } from './grown.js';
import { idIn, recordIn, textIn, textsIn, timeIn } from './reading.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('./grown.js').Theirs} Theirs */

// Reasoning stands in the reply as HTML of its own.
const BEGINS = '<details type="reasoning"';
const ENDS = '</details>';

/** @param {unknown} value @returns {boolean} */
export function isExported(value) {
  return isRecord(value) && isRecord(recordIn(recordIn(value.chat).history).messages);
}

/** @param {Record<string, unknown>} value @param {number} now @returns {Chat | null} null: nothing is said in it */
export function openWebUiChat(value, now) {
  const chat = recordIn(value.chat);
  const history = recordIn(chat.history);
  const nodes = Object.entries(recordIn(history.messages));
  if (nodes.length > MAX_NODES) throw new ConversationFileInvalid(`it has more than ${MAX_NODES} messages`);
  const created = timeIn(value.created_at) ?? now;
  const read = chatOf({
    title: textIn(chat.title) || textIn(value.title),
    system: textIn(chat.system) || textIn(recordIn(chat.params).system),
    model: textsIn(chat.models)[0] ?? '',
    created,
    updated: timeIn(value.updated_at) ?? created,
    messages: new Map(nodes.map(([id, node]) => [id, theirs(recordIn(node))])),
    current: idIn(history.currentId),
  });
  if (read && value.pinned === true) read.pinned = true;
  return read;
}

/** @param {Record<string, unknown>} node @returns {Theirs} */
function theirs({ role, content, parentId, childrenIds, timestamp }) {
  return {
    role: role === 'user' || role === 'assistant' ? role : null,
    text: withoutReasoning(textIn(content)),
    parent: idIn(parentId),
    children: textsIn(childrenIds),
    created: timeIn(timestamp),
  };
}

/** @param {string} text */
function withoutReasoning(text) {
  const [first, ...others] = text.split(BEGINS);
  const kept = others.map((part) => {
    const end = part.indexOf(ENDS);
    // What never ends is not what it looks like.
    return end < 0 ? BEGINS + part : part.slice(end + ENDS.length).trimStart();
  });
  return [first, ...kept].join('');
}
