// JSON numbers as digits: bounds compare them from the left, multiples count remainders.
import { FormTooCostly } from '../errors.js';
import { range } from './byte_set.js';

/** @typedef {import('./expressions.js').Expression} Expression */
/** @typedef {import('./expressions.js').Expressions} Expressions */
/** A decimal without a sign. @typedef {{whole: string, fraction: string}} Digits */

const MAX_MULTIPLE = 2000;
// A double holds what has fewer digits than this before its exponent ends it.
const MAX_EXPONENT_DIGITS = 2;
const ZERO = 48;

/** Makes the languages of numbers. */
export class Numbers {
  /** @param {Expressions} expressions */
  constructor(expressions) {
    this._x = expressions;
    this._digit = expressions.bytes(range(ZERO, ZERO + 9));
    this._digits = expressions.repeat(this._digit);
    const first = expressions.cat(expressions.bytes(range(ZERO + 1, ZERO + 9)), this._digits);
    this._whole = expressions.alt([expressions.text('0'), first]);
    this._sign = expressions.optional(expressions.text('-'));
    this._fraction = expressions.optional(expressions.cat(expressions.text('.'), expressions.repeat(this._digit, 1)));
    this.integer = expressions.cat(this._sign, this._whole);
    this.decimal = expressions.cat(this.integer, this._fraction);
    const exponent = expressions.cat(
      expressions.alt([expressions.text('e'), expressions.text('E')]),
      expressions.optional(expressions.alt([expressions.text('+'), expressions.text('-')])),
      expressions.repeat(this._digit, 1, MAX_EXPONENT_DIGITS),
    );
    this.any = expressions.cat(this.decimal, expressions.optional(exponent));
  }

  /** At least `bound`. @param {number} bound @param {boolean} exclusive */
  above(bound, exclusive) {
    return this._bounded(bound, exclusive, false);
  }

  /** At most `bound`. @param {number} bound @param {boolean} exclusive */
  below(bound, exclusive) {
    return this._bounded(bound, exclusive, true);
  }

  /**
   * Whole multiples of `factor`, of either sign, or those with so many digits behind the point.
   * @param {number} factor
   */
  multiple(factor) {
    const { whole, fraction } = digitsOf(factor);
    const steps = Number((whole + fraction).replace(/^0+/, ''));
    if (steps > MAX_MULTIPLE) throw new FormTooCostly(`multiples of more than ${MAX_MULTIPLE} steps`);
    return this._x.cat(this._sign, this._remainders(steps, fraction.length));
  }

  /**
   * Whatever the sign is: of two numbers below zero the larger one has the smaller digits.
   * @param {number} bound @param {boolean} exclusive @param {boolean} below
   */
  _bounded(bound, exclusive, below) {
    const x = this._x;
    const minus = x.text('-');
    const digits = digitsOf(Math.abs(bound));
    const sameSign = bound < 0;
    const compared = this._compared(digits, exclusive, below !== sameSign);
    const other = x.cat(this._whole, this._fraction);
    const zero = this._equal({ whole: '0', fraction: '' });
    if (bound === 0) {
      // Minus zero is zero.
      const negative = x.cat(minus, below ? x.both(other, x.not(zero)) : x.never);
      const zeros = exclusive ? x.never : x.cat(this._sign, zero);
      return x.alt([zeros, negative, below ? x.never : x.both(other, x.not(zero))]);
    }
    if (below) return x.alt(sameSign ? [x.cat(minus, compared)] : [x.cat(minus, other), compared]);
    return x.alt(sameSign ? [x.cat(minus, compared), other] : [compared]);
  }

  /**
   * Digits of numbers up to, or from, `bound`.
   * @param {Digits} bound @param {boolean} exclusive @param {boolean} below
   */
  _compared(bound, exclusive, below) {
    const x = this._x;
    const equal = this._equal(bound);
    const strict = below ? this._less(bound) : this._more(bound);
    return exclusive ? x.both(strict, x.not(equal)) : x.alt([strict, equal]);
  }

  /** @param {Digits} digits */
  _equal({ whole, fraction }) {
    const x = this._x;
    const zeros = x.repeat(x.text('0'));
    if (fraction) return x.cat(x.text(`${whole}.${fraction}`), zeros);
    return x.cat(x.text(whole), x.optional(x.cat(x.text('.'), x.text('0'), zeros)));
  }

  /** At most the bound, of which equal ones may be among them. @param {Digits} bound */
  _less(bound) {
    const x = this._x;
    const shorter = x.both(this._whole, x.repeat(this._digit, 0, bound.whole.length - 1));
    const sameLength = this._below(bound.whole, x.cat(this._fraction), this._lessBehind(bound.fraction));
    return x.alt([x.cat(shorter, this._fraction), x.both(x.cat(this._whole, this._fraction), sameLength)]);
  }

  /** At least the bound. @param {Digits} bound */
  _more(bound) {
    const x = this._x;
    const longer = x.both(this._whole, x.repeat(this._digit, bound.whole.length + 1));
    const sameLength = this._over(bound.whole, this._fraction, this._moreBehind(bound.fraction));
    return x.alt([x.cat(longer, this._fraction), x.both(x.cat(this._whole, this._fraction), sameLength)]);
  }

  /**
   * As many digits as `digits`, and less: then `free`; or equal: then `tied`.
   * @param {string} digits @param {Expression} free @param {Expression} tied
   */
  _below(digits, free, tied) {
    return this._tied(digits, free, tied, (digit) => range(ZERO, digit - 1), (digit) => digit > ZERO);
  }

  /** @param {string} digits @param {Expression} free @param {Expression} tied */
  _over(digits, free, tied) {
    return this._tied(digits, free, tied, (digit) => range(digit + 1, ZERO + 9), (digit) => digit < ZERO + 9);
  }

  /**
   * @param {string} digits @param {Expression} free @param {Expression} tied
   * @param {(digit: number) => Uint32Array} better @param {(digit: number) => boolean} has
   */
  _tied(digits, free, tied, better, has) {
    const x = this._x;
    let of = tied;
    for (let at = digits.length - 1; at >= 0; at--) {
      const digit = digits.charCodeAt(at);
      const rest = x.cat(x.repeat(this._digit, digits.length - 1 - at, digits.length - 1 - at), free);
      of = x.alt([x.cat(x.text(digits[at]), of), has(digit) ? x.cat(x.bytes(better(digit)), rest) : x.never]);
    }
    return of;
  }

  /** Fractions of at most `fraction`, with their point. @param {string} fraction */
  _lessBehind(fraction) {
    const x = this._x;
    if (!fraction) return x.empty;
    let of = x.empty;
    for (const digit of [...fraction].reverse()) {
      const code = digit.charCodeAt(0);
      const less = code > ZERO ? x.cat(x.bytes(range(ZERO, code - 1)), this._digits) : x.never;
      of = x.alt([x.cat(x.text(digit), of), less, x.empty]);
    }
    const some = x.both(of, x.repeat(this._digit, 1));
    return x.optional(x.cat(x.text('.'), some));
  }

  /** Fractions of at least `fraction`. @param {string} fraction */
  _moreBehind(fraction) {
    const x = this._x;
    if (!fraction) return this._fraction;
    let of = this._digits;
    for (const digit of [...fraction].reverse()) {
      const code = digit.charCodeAt(0);
      const more = code < ZERO + 9 ? x.cat(x.bytes(range(code + 1, ZERO + 9)), this._digits) : x.never;
      of = x.alt([x.cat(x.text(digit), of), more]);
    }
    return x.cat(x.text('.'), of);
  }

  /** @param {number} steps @param {number} places behind the point that count */
  _remainders(steps, places) {
    const x = this._x;
    /** @type {(left: number, behind: number) => Expression} behind: -1 before the point */
    const state = (left, behind) => {
      const name = `multiple ${steps} ${places} ${left} ${behind}`;
      const scale = 10 ** (places - Math.max(0, behind));
      const ends = (left * (scale % steps)) % steps === 0 && behind !== 0;
      return x.ref(name, ends, () => {
        const digits = Array.from({ length: 10 }, (_, digit) =>
          x.cat(x.text(String(digit)), state((left * 10 + digit) % steps, behind < 0 ? -1 : behind + 1)));
        const more = behind < places ? digits : [x.cat(x.text('0'), state(left, behind))];
        const point = behind < 0 && places > 0 ? x.cat(x.text('.'), state(left, 0)) : x.never;
        return x.alt([...more, point, ends ? x.empty : x.never]);
      });
    };
    return x.both(x.cat(this._whole, places ? this._fraction : x.empty), state(0, -1));
  }
}

/** @param {number} number not negative @returns {Digits} */
function digitsOf(number) {
  const [mantissa, exponent = '0'] = String(number).split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(1, point);
  return { whole: padded.slice(0, at).replace(/^0+(?=\d)/, ''), fraction: padded.slice(at).replace(/0+$/, '') };
}
