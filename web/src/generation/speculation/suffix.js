// Guesses from the chat itself: what followed the same tokens earlier in it.
import { Ngrams } from './ngrams.js';
import { Resuming } from './resuming.js';

/** @typedef {import('./drafts.js').Tokens} Tokens */

// A chat that has grown by at most so many tokens, and ends before them as it did, has only grown.
const FEW = 64;

/** The prompt and replies of one chat, held as ids: some 20 to 40 bytes a token. */
export class Suffix {
  constructor() {
    this.name = 'suffix';
    this._text = new Ngrams({ repeats: true });
    this._place = new Resuming(this._text);
  }

  /** As `DraftSource.follow`; takes microseconds where few tokens were added. @param {Tokens} tokens */
  follow(tokens) {
    const common = this._common(tokens);
    this._text.cut(common);
    this._text.extend(tokens, common);
  }

  /** As `DraftSource.draft`. @param {number} most @returns {import('./drafts.js').Draft | null} */
  draft(most) {
    const { match, tokens } = this._place.draft(this._text.tail(), this._text.length, most);
    return tokens.length ? { source: this.name, tokens, match } : null;
  }

  /** How many of the first of `tokens` are held already. @param {Tokens} tokens */
  _common(tokens) {
    const held = this._text.tokens;
    const grown = tokens.length - held.length;
    if (grown >= 0 && grown <= FEW && agree(held, tokens, Math.max(0, held.length - FEW), held.length)) return held.length;
    const most = Math.min(held.length, tokens.length);
    let common = 0;
    while (common < most && held.at(common) === tokens[common]) common++;
    return common;
  }
}

/** @param {import('./grown.js').Grown} held @param {Tokens} tokens @param {number} start @param {number} stop */
function agree(held, tokens, start, stop) {
  for (let i = start; i < stop; i++) if (held.at(i) !== tokens[i]) return false;
  return true;
}
