const END = /[.!?…:;。！？]["'”’)\]]*\s+|\n+/g;
const LEAST_MS = 2500;

/**
 * Feeds a screen reader with a growing reply: whole sentences, and not more often than it can speak them.
 */
export class Announcer {
  /** @param {(text: string) => void} say */
  constructor(say) {
    this._say = say;
    this._spoken = 0;
    this._last = -Infinity;
  }

  /** Before a reply: what was said before may be said again. @param {number} [known] characters that were heard already */
  begin(known = 0) {
    this._spoken = known;
    this._say('');
  }

  /** @param {string} text the whole reply so far @param {number} now milliseconds */
  grow(text, now) {
    if (now - this._last < LEAST_MS) return;
    const end = lastEnd(text, this._spoken);
    if (end > this._spoken) this._speak(text.slice(this._spoken, end), end, now);
  }

  /** @param {string} text the whole reply @param {string} [closing] words after it */
  finish(text, closing = '') {
    const rest = [text.slice(this._spoken).trim(), closing].filter(Boolean).join(' ');
    if (rest) this._say(rest);
    this._spoken = 0;
    this._last = -Infinity;
  }

  /** @param {string} piece @param {number} end @param {number} now */
  _speak(piece, end, now) {
    this._spoken = end;
    this._last = now;
    if (piece.trim()) this._say(piece.trim());
  }
}

/** @param {string} text @param {number} from @returns {number} where the last whole sentence ends */
function lastEnd(text, from) {
  let end = from;
  for (const match of text.slice(from).matchAll(END)) end = from + match.index + match[0].length;
  return end;
}
