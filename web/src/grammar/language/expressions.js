// Languages of bytes as expressions: every state of a reply is one, and what remains after a byte is its
// derivative (Brzozowski 1964; Owens, Reppy and Turon 2009). Equal expressions are one object, so that a state can be
// compared and remembered by its identity.
import { FormTooCostly } from '../errors.js';
import { MAX_ALTERNATIVES } from '../limits.js';
import { oneOf, single, union } from './byte_set.js';

/**
 * A language. `next` are derivatives that are known; `least`: bytes of its shortest text, unset until it was asked for.
 * `both` and `not` hold only what has no `ref` in it that contains itself other than at its end.
 * @typedef {object} Expression
 * @property {number} id
 * @property {'never' | 'empty' | 'text' | 'bytes' | 'cat' | 'alt' | 'repeat' | 'both' | 'not' | 'ref' | 'bare'} kind bare: what does not begin
 *   with a space
 * @property {boolean} nullable whether the empty text is in it
 * @property {string} text of kind text: one UTF-16 unit for each byte
 * @property {Uint32Array | null} set of kind bytes: 256 bits
 * @property {Expression[]} parts cat: head and rest; alt: at least two, by id; repeat, not: one; both: two
 * @property {number} min @property {number} max of kind repeat
 * @property {(() => Expression) | null} body of kind ref
 * @property {Map<number, Expression>} next
 * @property {number} age of `next`
 * @property {number | undefined} least
 * @property {number | undefined} tokens at least so many complete it
 */

// Objects that are known by their content; beyond them equal ones may be two, which costs time and changes nothing.
const MAX_KNOWN = 200_000;
const SPACE = 32;
// Each of its ends is an expression of its own, so that a long text is several.
const MAX_TEXT = 64;

/** Makes expressions and their derivatives. */
export class Expressions {
  constructor() {
    /** @type {Map<string, Expression>} */
    this._known = new Map();
    this._count = 0;
    this._age = 0;
    this.never = this._made('never', {});
    this.empty = this._made('empty', { nullable: true });
    /** @type {Map<string, Expression>} */
    this.refs = new Map();
  }

  /** @param {string} bytes one unit each */
  text(bytes) {
    if (bytes.length <= MAX_TEXT) return bytes ? this._one(`t${bytes}`, 'text', { text: bytes }) : this.empty;
    let rest = this.empty;
    for (let at = bytes.length - (bytes.length % MAX_TEXT); at >= 0; at -= MAX_TEXT) {
      rest = this._before(this.text(bytes.slice(at, at + MAX_TEXT)), rest);
    }
    return rest;
  }

  /** One byte of a set. @param {Uint32Array} set */
  bytes(set) {
    const only = single(set);
    if (only === -1) return this.never;
    if (only !== null) return this.text(String.fromCharCode(only));
    return this._one(`b${set.join()}`, 'bytes', { set });
  }

  /** One after the other. @param {...Expression} parts */
  cat(...parts) {
    return parts.reduceRight((rest, part) => this._before(part, rest), this.empty);
  }

  /** Any of them. @param {Iterable<Expression>} options */
  alt(options) {
    /** @type {Set<Expression>} */
    const parts = new Set();
    let set = null;
    for (const option of options) {
      for (const part of option.kind === 'alt' ? option.parts : [option]) {
        if (part.kind === 'bytes') set = set ? union(set, setOf(part)) : setOf(part);
        else if (part.kind === 'text' && part.text.length === 1) {
          set = set ? union(set, setOf(part)) : setOf(part);
        } else if (part !== this.never) parts.add(part);
      }
    }
    if (set) parts.add(this.bytes(set));
    if (parts.size < 2) return [...parts][0] ?? this.never;
    if (parts.size > MAX_ALTERNATIVES) throw new FormTooCostly('too many alternatives at one place');
    const sorted = [...parts].sort((a, b) => a.id - b.id);
    const nullable = sorted.some((part) => part.nullable);
    return this._one(`a${sorted.map((part) => part.id)}`, 'alt', { parts: sorted, nullable });
  }

  /** @param {Expression} part */
  optional(part) {
    return this.alt([part, this.empty]);
  }

  /** @param {Expression} part @param {number} [min] @param {number} [max] */
  repeat(part, min = 0, max = Infinity) {
    if (max < min) return this.never;
    if (max === 0 || part === this.empty) return this.empty;
    if (part === this.never) return min ? this.never : this.empty;
    if (min === 1 && max === 1) return part;
    if (part.nullable) min = 0;
    if (part.kind === 'repeat' && min === 0 && max === Infinity && part.min === 0 && part.max === Infinity) return part;
    return this._one(`r${part.id},${min},${max}`, 'repeat', { parts: [part], min, max, nullable: min === 0 });
  }

  /** What is in both. @param {Expression} one @param {Expression} other */
  both(one, other) {
    if (one === this.never || other === this.never) return this.never;
    if (one === other || this._isAll(other)) return one;
    if (this._isAll(one)) return other;
    const parts = one.id < other.id ? [one, other] : [other, one];
    return this._one(`n${parts[0].id},${parts[1].id}`, 'both', { parts, nullable: one.nullable && other.nullable });
  }

  /** @param {Expression} of */
  _isAll(of) {
    return of.kind === 'not' && of.parts[0] === this.never;
  }

  /** Every text of bytes that is not in it. @param {Expression} part */
  not(part) {
    if (part.kind === 'not') return part.parts[0];
    return this._one(`x${part.id}`, 'not', { parts: [part], nullable: !part.nullable });
  }

  /**
   * What `body` gives, once it is needed: it may refer to itself.
   * @param {string} name the same one is the same language
   * @param {boolean} nullable @param {() => Expression} body
   */
  ref(name, nullable, body) {
    let ref = this.refs.get(name);
    if (!ref) {
      /** @type {Expression | null} */
      let built = null;
      ref = this._made('ref', { nullable, body: () => (built ??= body()) });
      this.refs.set(name, ref);
    }
    return ref;
  }

  /** The texts of which `of` is left when a first space is taken off. @param {Expression} of */
  stripped(of) {
    const bare = this._one(`s${of.id}`, 'bare', { parts: [of] });
    return this.alt([this._before(this.text(' '), of), bare]);
  }

  /** What may follow `byte`. @param {Expression} of @param {number} byte @returns {Expression} */
  after(of, byte) {
    if (of.kind === 'text') return of.text.charCodeAt(0) === byte ? this.text(of.text.slice(1)) : this.never;
    if (of.age !== this._age) {
      of.next = new Map();
      of.age = this._age;
    }
    let found = of.next.get(byte);
    if (!found) {
      found = this._derived(of, byte);
      of.next.set(byte, found);
    }
    return found;
  }

  /** @param {Expression} of @param {number} byte @returns {Expression} */
  _derived(of, byte) {
    switch (of.kind) {
      case 'bytes': return oneOf(setOf(of), byte) ? this.empty : this.never;
      case 'cat': return this._derivedPair(of.parts[0], of.parts[1], byte);
      case 'alt': return this.alt(of.parts.map((part) => this.after(part, byte)));
      case 'repeat': {
        const [part] = of.parts;
        const first = this.after(part, byte);
        if (first === this.never) return first;
        const endless = of.min === 0 && of.max === Infinity;
        return this._before(first, endless ? of : this.repeat(part, Math.max(0, of.min - 1), of.max - 1));
      }
      case 'both': return this.both(this.after(of.parts[0], byte), this.after(of.parts[1], byte));
      case 'not': return this.not(this.after(of.parts[0], byte));
      case 'ref': return this.after(bodyOf(of), byte);
      case 'bare': return byte === SPACE ? this.never : this.after(of.parts[0], byte);
      default: return this.never;
    }
  }

  /** @param {Expression} head @param {Expression} rest @param {number} byte */
  _derivedPair(head, rest, byte) {
    const first = this._before(this.after(head, byte), rest);
    return head.nullable ? this.alt([first, this.after(rest, byte)]) : first;
  }

  /** @param {Expression} head @param {Expression} rest @returns {Expression} */
  _before(head, rest) {
    if (head === this.never || rest === this.never) return this.never;
    if (head === this.empty) return rest;
    if (rest === this.empty) return head;
    if (head.kind === 'cat') return this._before(head.parts[0], this._before(head.parts[1], rest));
    if (head.kind === 'text') {
      const [second, third] = rest.kind === 'cat' ? rest.parts : [rest, this.empty];
      if (second.kind === 'text' && head.text.length + second.text.length <= MAX_TEXT) {
        return this._before(this.text(head.text + second.text), third);
      }
    }
    const nullable = head.nullable && rest.nullable;
    return this._one(`c${head.id},${rest.id}`, 'cat', { parts: [head, rest], nullable });
  }

  /** @param {string} key @param {Expression['kind']} kind @param {Partial<Expression>} fields */
  _one(key, kind, fields) {
    const known = this._known.get(key);
    if (known) return known;
    if (this._known.size >= MAX_KNOWN) {
      // What no reply stands at any more is held by nothing then.
      this._known.clear();
      this._age += 1;
    }
    const made = this._made(kind, fields);
    this._known.set(key, made);
    return made;
  }

  /** @param {Expression['kind']} kind @param {Partial<Expression>} fields @returns {Expression} */
  _made(kind, fields) {
    const { nullable = false, text = '', set = null, parts = [], min = 0, max = 0, body = null } = fields;
    const id = this._count++;
    return { id, kind, nullable, text, set, parts, min, max, body, next: new Map(), age: this._age, least: undefined, tokens: undefined };
  }
}

/** @param {Expression} ref @returns {Expression} */
export function bodyOf(ref) {
  return /** @type {() => Expression} */ (ref.body)();
}

/** @param {Expression} part of kind bytes, or a text of one byte */
function setOf(part) {
  return part.set ?? oneByte(part.text.charCodeAt(0));
}

/** @param {number} byte */
function oneByte(byte) {
  const set = new Uint32Array(8);
  set[byte >> 5] |= 1 << (byte & 31);
  return set;
}
