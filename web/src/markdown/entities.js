/** Character references in text (CommonMark 0.31, section 2.5): those that people write. */

const NAMED = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00a0',
    copy: '©',
    reg: '®',
    trade: '™',
    hellip: '…',
    ndash: '–',
    mdash: '—',
    laquo: '«',
    raquo: '»',
    times: '×',
    middot: '·',
    bull: '•',
    deg: '°',
    euro: '€',
    larr: '←',
    rarr: '→',
  }),
);
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g;

/** The result is text: what looks like a tag in it is none. @param {string} text */
export function resolved(text) {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (whole, decimal, hexadecimal, name) => {
    if (name) return NAMED.get(name) ?? whole;
    return character(decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hexadecimal, 16));
  });
}

/** @param {number} point */
function character(point) {
  const none = point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff);
  return none ? '\ufffd' : String.fromCodePoint(point);
}

/** Control characters are no text. @param {string} source */
export function withoutControls(source) {
  return source.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}
