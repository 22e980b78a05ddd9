// Values out of texts, and back into them: the rules of docs/redaction.md for one map.
import { Alignment } from './alignment.js';
import { Looked } from './finding/looked.js';
import { GROUPS } from './kinds.js';
import { KnownSurrogates } from './known_surrogates.js';
import { KnownValues } from './known_values.js';
import { firstWritten, newEntries, replaced } from './passing.js';
import { spokenIn, surrogateFor } from './surrogates/making.js';

/** @typedef {import('./entries.js').Entry} Entry */
/** @typedef {import('./kinds.js').Found} Found */
/** @typedef {import('./surrogates/making.js').CountTokens} CountTokens */
/** A text on its way out, and which parts of it stand for which. @typedef {{text: string, alignment: Alignment}} Redacted */
/** What is looked for, and for whom. @typedef {{groups: readonly string[], regions: readonly string[], names: readonly string[]}} Settings */

/** Of one chat. */
export class Redactor {
  /**
   * @param {Settings} settings @param {Uint8Array} secret of this chat, 32 bytes
   * @param {Iterable<Entry>} entries throws RedactionMapInvalid
   * @param {CountTokens} [count]
   */
  constructor({ groups, regions, names }, secret, entries, count = async (texts) => texts.map(() => 0)) {
    this._kinds = new Set(groups.flatMap((group) => GROUPS[group] ?? []));
    this._regions = regions;
    this._secret = secret;
    this._count = count;
    this._surrogates = new KnownSurrogates(regions, entries);
    this._known = new KnownValues(names);
    for (const entry of this.entries.all) this._known.add(entry);
    /** The forms of texts that were looked at lately. @type {Map<string, [string, string]>} */
    this._forms = new Map();
  }

  /** The map as it is by now. */
  get entries() {
    return this._surrogates.entries;
  }

  /**
   * A text with surrogates in place of values, which are in the map from then on.
   * @param {string} text @param {readonly string[]} [chat] texts in which no surrogate may occur
   * @returns {Promise<Redacted>} throws RedactionExhausted, and has changed nothing then
   */
  async redacted(text, chat = []) {
    const { looked, found } = this._look(text);
    const make = async (/** @type {Found} */ each, /** @type {import('./surrogates/making.js').Spoken} */ spoken) => {
      const { kind, key, rule } = each;
      const surrogate = await surrogateFor(this._secret, each, looked, spoken, this._count);
      return { kind, key, value: firstWritten(each), surrogate, rule };
    };
    for (const entry of await newEntries(found, this.entries, () => this._spoken([...chat, text]), make)) {
      this._surrogates.add(entry);
      this._known.add(entry);
    }
    return this._replaced(looked, found);
  }

  /** The values in a text, as they are spelled there. @param {string} text @returns {string[]} */
  valuesIn(text) {
    return this._look(text).found.map(({ written }) => written);
  }

  /** See KnownSurrogates. @param {string} sent @param {{json?: boolean}} [form] */
  undone(sent, form) {
    return this._surrogates.undone(sent, form);
  }

  /** See KnownSurrogates. @param {{json?: boolean}} [form] */
  undoing(form) {
    return this._surrogates.undoing(form);
  }

  /** @param {string} text */
  _look(text) {
    const looked = new Looked(text, this._regions);
    return { looked, found: this._known.found(looked, this._kinds) };
  }

  /** @param {Looked} looked @param {Found[]} found @returns {Redacted} */
  _replaced(looked, found) {
    const { text, pieces } = replaced(looked, found, this.entries);
    return { text, alignment: new Alignment(pieces, looked.source.length, text.length) };
  }

  /** @param {string[]} texts @returns {import('./surrogates/making.js').Spoken} */
  _spoken(texts) {
    const forms = texts.map((text) => this._formsOf(text));
    this._forms = new Map(texts.map((text, i) => [text, forms[i]]));
    const { ofNumbers, ofNames, ofTexts } = this._known.sorted;
    return {
      numbers: forms.map(([numbers]) => numbers),
      texts: forms.map(([, plain]) => plain),
      ofNumbers: new Set(ofNumbers),
      ofNames: new Set(ofNames),
      ofTexts: new Set(ofTexts),
    };
  }

  /** @param {string} text @returns {[string, string]} */
  _formsOf(text) {
    return this._forms.get(text) ?? spokenIn(text);
  }
}
