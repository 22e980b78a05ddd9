// Tokens of replies without a model: words, whose probabilities go by their letters.
import { AppError } from '../../../src/common/errors.js';

const OTHERS = [' surely', ' perhaps', ' <b>never</b>', '\n', '<|im_end|>'];

/** The pieces of each reply by its name. */
export class FakeAnswers {
  constructor() {
    /** @type {Map<string, string[]>} */
    this._pieces = new Map();
  }

  /**
   * What a reply begins with, and the pieces that follow.
   * @param {any} request @param {string[]} pieces of a whole reply
   */
  begin({ answer, begun }, pieces) {
    if (!begun) {
      this._pieces.set(answer, []);
      return { before: '', rest: pieces };
    }
    const { at, token, text } = begun;
    const kept = this._pieces.get(begun.answer);
    if (token !== undefined && !kept) throw new AppError('nothing_to_continue', 'the tokens are not known any more');
    const start = token === undefined ? (text.match(/\s*\S+/g) ?? []) : [...(kept ?? []).slice(0, at), this._text(kept?.[at] ?? '', token)];
    if (start.at(-1) === OTHERS[4]) throw new AppError('branch_invalid', 'no reply goes on from there');
    this._pieces.set(answer, start);
    return { before: start.join(''), rest: pieces.slice(start.length) };
  }

  /** @param {string} answer @param {string} piece */
  push(answer, piece) {
    this._pieces.get(answer)?.push(piece);
  }

  /** @param {string} answer @param {number} from */
  tokens(answer, from) {
    const pieces = this._pieces.get(answer);
    if (!pieces) return null;
    const tokens = pieces.slice(from, from + 16).map((text) => ({ id: 0, text, control: false, logprob: likely(text) }));
    return { tokens, count: pieces.length };
  }

  /** @param {string} answer @param {number} at */
  alternatives(answer, at) {
    const piece = this._pieces.get(answer)?.[at];
    if (piece === undefined) return null;
    const rest = (1 - Math.exp(likely(piece))) / 2;
    const others = OTHERS.map((text, i) => [i + 1, text, Math.log(rest / 2 ** i)]);
    return [[0, piece, likely(piece)], ...others].sort((a, b) => Number(b[2]) - Number(a[2]));
  }

  /** @param {string} piece @param {number} token */
  _text(piece, token) {
    return token === 0 ? piece : OTHERS[token - 1];
  }
}

/** In nats. @param {string} text */
function likely(text) {
  return Math.log(0.96 / (1 + (text.length * 7919) % 113));
}
