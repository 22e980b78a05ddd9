// Having a server delete what it keeps of a chat: of its open session, and of earlier ones.
//
// What an earlier session left is found by the names of its rows, like anything that is restored: a session that
// begins with it is opened, and closed so that nothing of it stays.
import { CacheLost, NotForgotten } from './errors.js';

/** @typedef {import('./remote.js').RemoteBackend} RemoteBackend */
/** @typedef {import('./backend.js').Rows} Rows */
/**
 * `positions` of the chat were kept; `left` of them still are when they are asked for again, because other chats go
 * on from them. `earlier`: whether what earlier sessions left was looked for.
 * @typedef {{positions: number, left: number, earlier: boolean}} Forgotten
 */

const TRIES = 3;

/**
 * Ends the session, which holds `held`, and deletes what is kept of it and of the prefixes `ends`.
 * @param {RemoteBackend} backend
 * @param {number[]} held @param {number[][]} ends
 * @param {((tokens: number[]) => Rows) | null} rows null: nothing may be named
 * @returns {Promise<Forgotten>}
 * @throws {NotForgotten | import('../common/errors.js').AppError} the latter: as opening a session
 */
export async function forget(backend, held, ends, rows) {
  /** @type {[number[], number][]} */
  const found = (await backend.forget()) ? [[held, held.length]] : [];
  if (rows === null) return { positions: distinct(found), left: 0, earlier: false };
  const others = unique([held, ...ends]).filter((end) => end.length && !(found.length && isSame(end, held)));
  // What a branch has of its own goes before what it shares.
  for (const end of others.sort((a, b) => b.length - a.length)) {
    const count = await cut(backend, rows(end));
    if (count === null) return { positions: distinct(found), left: 0, earlier: false };
    if (count) found.push([end, count]);
  }
  /** @type {[number[], number][]} */
  const left = [];
  for (const [end] of found) left.push([end, (await cut(backend, rows(end))) ?? 0]);
  return { positions: distinct(found), left: distinct(left), earlier: true };
}

/**
 * How many of `wanted` were kept before they were deleted; null: the server cannot be asked.
 * @param {RemoteBackend} backend @param {Rows} wanted
 */
async function cut(backend, wanted) {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    try {
      await backend.open({ wanted });
      if (!backend.restores) {
        await backend.close();
        return null;
      }
      const count = await backend.held(wanted, 0);
      if (await backend.forget()) return count;
    } catch (error) {
      if (!(error instanceof CacheLost)) throw error;
    }
  }
  throw new NotForgotten();
}

/** @param {number[][]} ends */
function unique(ends) {
  return ends.filter((end, index) => ends.findIndex((other) => isSame(end, other)) === index);
}

/** @param {number[]} a @param {number[]} b */
function isSame(a, b) {
  return a.length === b.length && common(a, b) === a.length;
}

/** How many positions these prefixes, each so long, have together. @param {[number[], number][]} found */
function distinct(found) {
  /** @type {number[][]} */
  const seen = [];
  let total = 0;
  for (const [tokens, count] of found) {
    const own = tokens.slice(0, count);
    total += count - Math.max(0, ...seen.map((other) => common(own, other)));
    seen.push(own);
  }
  return total;
}

/** @param {number[]} left @param {number[]} right */
function common(left, right) {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return i;
  return length;
}
