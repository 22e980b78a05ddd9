import { redactionAs } from '../../../chats/redaction/chosen.js';

/**
 * Has the shown chat be redacted so, from its next message on.
 * @param {import('../app.js').App} app @param {import('../../../../types/gatelink').RedactionChoice} choice
 */
export function changeRedaction(app, { on, groups, names, regions }) {
  const chat = app.library.chat.value;
  if (app.fixed.value) return;
  const choice = { on, groups, names, regions };
  // As with noise, what is chosen before a chat begins is meant for the next ones too; a person's own names always are.
  const next = app.settings.value.redaction ?? { ...choice, on: false };
  app.change({ redaction: chat.roots.length ? { ...next, names } : choice });
  // What it was drafted from, and its session, know the chat as it was sent before.
  app.connection.closeChat(chat.id);
  app.changeChat({ redaction: redactionAs(chat, choice) });
}
