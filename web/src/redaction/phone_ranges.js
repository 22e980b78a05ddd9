// Which numbers a country's phones have: from libphonenumber's metadata, as the terminal has them.
import phones from '../../../device_client/split_client/redaction/data/phones.json' with { type: 'json' };

/** A country's numbers: its calling code, the prefix before national ones, and what a number is. */
export class Region {
  /** @param {{code: string, trunk: string, number: string}} about */
  constructor({ code, trunk, number }) {
    this.code = code;
    this.trunk = trunk;
    this._source = number;
    /** Made when it is first needed: there are hundreds. @type {RegExp | null} */
    this._number = null;
  }

  /** Whether the digits are a number of it. @param {string} number */
  takes(number) {
    this._number ??= new RegExp(`^(?:${this._source})$`);
    return this._number.test(number);
  }
}

/** @type {ReadonlyMap<string, Region>} */
export const REGIONS = new Map(Object.entries(phones.regions).map(([name, about]) => [name, new Region(about)]));
/** The regions of a calling code, the main one first. @type {ReadonlyMap<string, Region[]>} */
export const CALLING = new Map(
  Object.entries(/** @type {Record<string, string[]>} */ (phones.calling)).map(([code, names]) => [
    code,
    names.flatMap((name) => REGIONS.get(name) ?? []),
  ]),
);
