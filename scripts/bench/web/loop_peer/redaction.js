// Redaction as ../redaction.py times it: texts on their way out, and back as one or in pieces.
import { KnownSurrogates } from '../../../../web/src/redaction/known_surrogates.js';
import { Redactor } from '../../../../web/src/redaction/redactor.js';
import { answer } from './jobs.js';

const SETTINGS = {
  groups: ['names', 'emails', 'ibans', 'cards', 'ids', 'phones', 'addresses'], regions: ['DE'], names: [],
};
let redactor;
let sent;
let known;

answer({
  /** A chat with an empty map. */
  begin({ secret }) {
    redactor = new Redactor(SETTINGS, Uint8Array.from(secret), []);
  },
  /** All texts, one after the other; what goes out for them. */
  async out({ texts }) {
    sent = [];
    for (const text of texts) sent.push((await redactor.redacted(text)).text);
    known = new KnownSurrogates(SETTINGS.regions, redactor.entries.all);
    return sent;
  },
  /** What went out, as replies in pieces of `size`; what comes back. */
  back({ size }) {
    return sent.map((text) => {
      const undo = known.undoing();
      let made = '';
      for (let at = 0; at < text.length; at += size) made += undo.push(text.slice(at, at + size));
      return made + undo.finish();
    });
  },
});
