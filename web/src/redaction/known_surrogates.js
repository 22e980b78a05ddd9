// A map as a reply is read with it: what is needed to put values back, without the lists of names.
import { Entries } from './entries.js';
import { Spotter, keyOf } from './spotting.js';
import { Beginnings } from './undoing/beginnings.js';
import { Undo } from './undoing/stream.js';

/** @typedef {import('./entries.js').Entry} Entry */

/** Of one chat. */
export class KnownSurrogates {
  /** @param {readonly string[]} regions @param {Iterable<Entry>} entries throws RedactionMapInvalid */
  constructor(regions, entries) {
    this._regions = regions;
    this._spotter = new Spotter();
    this._beginnings = new Beginnings(this._spotter);
    this.entries = new Entries();
    for (const entry of entries) this.add(entry);
  }

  /** One more. @param {Entry} entry throws RedactionMapInvalid */
  add(entry) {
    const { kind, surrogate } = entry;
    this.entries.add(entry);
    this._spotter.add({ kind, key: keyOf(kind, surrogate), entry });
  }

  /**
   * What the model wrote with its values back, and which parts of it stand for which of that.
   * @param {string} sent @param {{json?: boolean}} [form] @returns {{text: string, pieces: readonly import('./alignment.js').Piece[]}}
   */
  undone(sent, form) {
    const undo = this.undoing(form);
    const text = undo.push(sent) + undo.finish();
    return { text, pieces: undo.pieces };
  }

  /** Puts values back while a reply is made. @param {{json?: boolean}} [form] json: within quotation marks */
  undoing({ json = false } = {}) {
    return new Undo(this._spotter, this._regions, json ? inJson : undefined, this._beginnings);
  }
}

/** Within quotation marks. @param {string} value */
function inJson(value) {
  return JSON.stringify(value).slice(1, -1);
}
