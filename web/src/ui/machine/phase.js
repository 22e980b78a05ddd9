// The phase of the page between "just opened" and "can send": one pure function of state and event.

/** @typedef {import('../../engine/messages.js').Connected} Connected */
/** @typedef {{code: string, message: string}} Problem */
/**
 * @typedef {'connecting' | 'needs_token' | 'needs_download' | 'downloading' | 'preparing' | 'ready'
 *   | 'offline' | 'failed'} PhaseName
 */
/**
 * `server`: what it said when it was last reached; `problem`: why the page stands where it stands; while it connects:
 * the server reads the model into its memory first.
 * @typedef {{name: PhaseName, server: Connected | null, problem: Problem | null, doneBytes: number}} Phase
 */
/**
 * @typedef {{type: 'connect'} | {type: 'connected', server: Connected} | {type: 'download'}
 *   | {type: 'paused', doneBytes: number} | {type: 'downloaded'} | {type: 'prepared'}
 *   | {type: 'loading', problem: Problem} | {type: 'removed'} | {type: 'failed', problem: Problem}} PhaseEvent
 */

/** @type {Phase} */
export const START = { name: 'connecting', server: null, problem: null, doneBytes: 0 };

const TOKEN_CODES = new Set(['unauthorized', 'device_revoked', 'token_invalid']);
const OFFLINE_CODES = new Set(['server_unreachable', 'connection_lost', 'offline', 'upgrade_refused',
  'server_draining', 'session_unstable']);
// What the steps of the way to `ready` may follow upon; an event of a step that was left is ignored.
/** @type {Partial<Record<PhaseEvent['type'], readonly PhaseName[]>>} */
const AFTER = {
  connected: ['connecting'],
  download: ['needs_download'],
  paused: ['downloading'],
  downloaded: ['downloading'],
  prepared: ['preparing'],
};

/**
 * @param {Phase} phase
 * @param {PhaseEvent} event
 * @returns {Phase} the same object where the event changes nothing
 */
export function next(phase, event) {
  const allowed = AFTER[event.type];
  if (allowed && !allowed.includes(phase.name)) return phase;
  switch (event.type) {
    case 'connect':
      return { ...phase, name: 'connecting', problem: null };
    case 'connected':
      return arrived(event.server);
    case 'download':
      return { ...phase, name: 'downloading', problem: null };
    case 'paused':
      return { ...phase, name: 'needs_download', doneBytes: event.doneBytes };
    case 'downloaded':
      return { ...phase, name: 'preparing' };
    case 'prepared':
      return { ...phase, name: 'ready' };
    case 'removed':
      return { ...phase, name: 'connecting', doneBytes: 0, problem: null };
    case 'loading':
      return { ...phase, name: 'connecting', problem: event.problem };
    case 'failed':
      return failed(phase, event.problem);
  }
}

/** @param {Connected} server @returns {Phase} */
function arrived(server) {
  const name = server.stored ? 'preparing' : 'needs_download';
  return { name, server, problem: null, doneBytes: server.doneBytes };
}

/** @param {Phase} phase @param {Problem} problem @returns {Phase} */
function failed(phase, problem) {
  if (TOKEN_CODES.has(problem.code)) return { ...phase, name: 'needs_token', problem };
  // A download that broke off can go on where it stopped, so it says so in its own place.
  if (phase.name === 'downloading') return { ...phase, name: 'needs_download', problem };
  if (OFFLINE_CODES.has(problem.code)) return { ...phase, name: 'offline', problem };
  return { ...phase, name: 'failed', problem };
}

// Another model is served, or the browser has cleared what was here.
const RECONNECT_CODES = new Set(['model_changed', 'weights_changed', 'not_ready']);

/**
 * Whether an error of a reply concerns the page as a whole.
 * @param {string} code
 * @returns {'needs_token' | 'offline' | 'reconnect' | null} reconnect: ask the server anew what it serves
 */
export function meaningForPage(code) {
  if (TOKEN_CODES.has(code)) return 'needs_token';
  if (RECONNECT_CODES.has(code)) return 'reconnect';
  return OFFLINE_CODES.has(code) ? 'offline' : null;
}
