import { ModelInUse, storageError } from './errors.js';

const CHANNEL = 'gatelink-models';
const ANSWER_MS = 300;
// A tab that was just closed or reloaded gives its locks back a moment later.
const PATIENCE_MS = 1500;

/** @typedef {() => void} Release gives a claim back; safe to call twice */

/**
 * Hold a model: alone (to download or delete it) or together with other users. Between tabs by Web Locks;
 * where a browser withholds them (http:// on a LAN), tabs ask each other over a BroadcastChannel.
 * @param {string} digest
 * @param {{exclusive: boolean, locks?: LockManager, answerMs?: number}} options `answerMs`: how long tabs may
 *   take to answer
 * @returns {Promise<Release>}
 * @throws {ModelInUse}
 */
export async function claim(
  digest,
  { exclusive, locks = globalThis.navigator?.locks, answerMs = ANSWER_MS },
) {
  if (locks) return claimByLock(digest, exclusive, locks);
  return exclusive ? claimByAsking(digest, answerMs) : answerFor(digest, () => true);
}

/** @param {string} digest @param {boolean} exclusive @param {LockManager} locks */
function claimByLock(digest, exclusive, locks) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const mode = exclusive ? 'exclusive' : 'shared';
  return /** @type {Promise<Release>} */ (
    new Promise((resolve, reject) => {
      const held = () => new Promise((release) => resolve(() => release(undefined)));
      locks
        .request(`${CHANNEL}/${digest}`, { mode, signal }, held)
        .catch((error) =>
          reject(error?.name === 'TimeoutError' ? new ModelInUse() : storageError(error)),
        );
    })
  );
}

/**
 * Of two tabs that ask at once, the one with the smaller ticket goes on: it refuses the other if it hears the
 * other's question, and the other gives way if it hears this one's.
 * @param {string} digest @param {number} answerMs
 */
async function claimByAsking(digest, answerMs) {
  const ticket = crypto.getRandomValues(new Uint32Array(2)).join('-');
  const state = { granted: false, beaten: false };
  const release = answerFor(digest, (other) => {
    // A channel hears what another channel of the same tab says.
    if (other === ticket) return false;
    const refuses = state.granted || ticket < other;
    state.beaten ||= !refuses;
    return refuses;
  });
  if ((await isRefused(digest, ticket, answerMs)) || state.beaten) {
    release();
    throw new ModelInUse();
  }
  state.granted = true;
  return release;
}

/**
 * Says "in use" to tabs that ask for the model.
 * @param {string} digest
 * @param {(ticket: string) => boolean} refuses
 * @returns {Release}
 */
function answerFor(digest, refuses) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data?.ask === digest && refuses(String(data.ticket)))
      channel.postMessage({ held: digest, ticket: data.ticket });
  };
  return () => channel.close();
}

/** @param {string} digest @param {string} ticket @param {number} answerMs @returns {Promise<boolean>} */
function isRefused(digest, ticket, answerMs) {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const end = (/** @type {boolean} */ refused) => {
      clearTimeout(timer);
      channel.close();
      resolve(refused);
    };
    const timer = setTimeout(() => end(false), answerMs);
    channel.onmessage = ({ data }) => {
      if (data?.held === digest && data.ticket === ticket) end(true);
    };
    channel.postMessage({ ask: digest, ticket });
  });
}
