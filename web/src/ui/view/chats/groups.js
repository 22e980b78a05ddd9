/** The saved chats as a list shows them: pinned ones, folders, then by the day of their last change. */

/** @typedef {import('../../../chats/types').ChatSummary} ChatSummary */
/** @typedef {'pinned' | 'folder' | 'today' | 'yesterday' | 'week' | 'month' | 'earlier'} Kind */
/**
 * @template {ChatSummary} T
 * @typedef {{kind: Kind, name: string, chats: T[]}} Group name: of a folder; of 'earlier': its month, as 2026-11
 */

const DAY_MS = 86_400_000;

/**
 * @template {ChatSummary} T
 * @param {readonly T[]} chats the newest first @param {number} now
 * @returns {Group<T>[]} none is empty
 */
export function groupsOf(chats, now) {
  /** @type {Map<string, Group<T>>} */
  const groups = new Map();
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  for (const chat of chats) {
    const { kind, name } = groupOf(chat, midnight);
    const key = `${ORDER[kind]} ${name}`;
    const group = groups.get(key);
    if (group) group.chats.push(chat);
    else groups.set(key, { kind, name, chats: [chat] });
  }
  return [...groups.values()].sort(inOrder);
}

/** @type {Record<Kind, number>} */
const ORDER = { pinned: 0, folder: 1, today: 2, yesterday: 3, week: 4, month: 5, earlier: 6 };

/** @param {ChatSummary} chat @param {number} midnight before now @returns {{kind: Kind, name: string}} */
function groupOf({ pinned, folder, updated }, midnight) {
  if (pinned) return { kind: 'pinned', name: '' };
  if (folder) return { kind: 'folder', name: folder };
  const days = Math.ceil((midnight - updated) / DAY_MS);
  if (days <= 0) return { kind: 'today', name: '' };
  if (days === 1) return { kind: 'yesterday', name: '' };
  if (days <= 7) return { kind: 'week', name: '' };
  if (days <= 30) return { kind: 'month', name: '' };
  return { kind: 'earlier', name: monthOf(updated) };
}

/** @param {number} at milliseconds since 1970 */
function monthOf(at) {
  const date = new Date(at);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
}

/** Folders by name, months the newest first. @param {Group<any>} a @param {Group<any>} b */
function inOrder(a, b) {
  const kinds = ORDER[a.kind] - ORDER[b.kind];
  if (kinds) return kinds;
  return a.kind === 'earlier' ? b.name.localeCompare(a.name) : a.name.localeCompare(b.name);
}

/** Names of all folders. @param {readonly ChatSummary[]} chats @returns {string[]} */
export function foldersOf(chats) {
  const names = chats.map(({ folder }) => folder).filter((name) => name !== undefined && name !== '');
  return [...new Set(/** @type {string[]} */ (names))].sort((a, b) => a.localeCompare(b));
}
