// What was shown of a reply since its last white space.
import { beginsAddress, runAtEnd } from './addresses.js';

// More than the characters that decide whether a surrogate is a word or a number of its own, and than an address needs to
// begin.
const SEEN = 64;
const MOST = 2048;

/** `end`: its last characters. Of a run without end a part is kept. */
export class Shown {
  constructor() {
    this.end = '';
    this._run = '';
    this._begun = false;
    this._read = 0;
  }

  /** That was shown as well. @param {string} text */
  add(text) {
    let run = runAtEnd(text);
    if (run.length === text.length) run = this._run + run;
    else [this._begun, this._read] = [false, 0];
    if (run.length > MOST) {
      // One more, as what an address begins with is no part of a word.
      [this._begun, this._read] = [this._begun || beginsAddress(run, this._read), 1];
      run = run.slice(-SEEN - 1);
    }
    this._run = run;
    this.end = run.slice(-SEEN);
  }

  /** Whether what comes behind a text, which is shown next, stands in an address. @param {string} text */
  leadsOn(text) {
    const run = runAtEnd(text);
    if (run.length < text.length) return beginsAddress(run);
    return this._begun || beginsAddress(this._run + run, this._read);
  }
}
