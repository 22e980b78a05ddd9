/**
 * Conversations as ChatGPT exports them: `conversations.json`, a list in which each has a `mapping` of nodes with
 * `parent`, `children` and a `message` whose `content` has `parts`. Text alone is taken, never HTML; what tools said,
 * pictures and hidden messages are left out.
 */
import { ConversationFileInvalid } from '../errors.js';
import { isRecord } from '../plain.js';
import { MAX_NODES } from '../tree.js';
import { chatOf } from './grown.js';
import { idIn, recordIn, textIn, textsIn, timeIn } from './reading.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('./grown.js').Theirs} Theirs */

/** @param {unknown} value @returns {boolean} */
export function isConversation(value) {
  return isRecord(value) && isRecord(value.mapping);
}

/** @param {Record<string, unknown>} value @param {number} now @returns {Chat | null} null: nothing is said in it */
export function chatGptChat(value, now) {
  const nodes = Object.entries(recordIn(value.mapping));
  // Nodes of tools and of hidden messages count too.
  if (nodes.length > 2 * MAX_NODES) throw new ConversationFileInvalid(`it has more than ${2 * MAX_NODES} messages`);
  const messages = new Map(nodes.map(([id, node]) => [id, theirs(recordIn(node))]));
  const created = timeIn(value.create_time) ?? now;
  return chatOf({
    title: textIn(value.title),
    system: '',
    model: textIn(value.default_model_slug),
    created,
    updated: timeIn(value.update_time) ?? created,
    messages,
    current: idIn(value.current_node),
  });
}

/** @param {Record<string, unknown>} node @returns {Theirs} */
function theirs(node) {
  const message = recordIn(node.message);
  const { role } = recordIn(message.author);
  const hidden = recordIn(message.metadata).is_visually_hidden_from_conversation === true;
  // What goes to a tool has another recipient.
  const spoken = !hidden && (message.recipient === undefined || message.recipient === 'all');
  return {
    role: spoken && (role === 'user' || role === 'assistant') ? role : null,
    text: spoken ? textOf(recordIn(message.content)) : '',
    parent: idIn(node.parent),
    children: textsIn(node.children),
    created: timeIn(message.create_time),
  };
}

/** @param {Record<string, unknown>} content */
function textOf({ content_type: type, parts }) {
  return type === 'text' || type === 'multimodal_text' ? textsIn(parts).join('\n\n') : '';
}
