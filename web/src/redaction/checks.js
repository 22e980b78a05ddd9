// Check digits, from the standards and authorities that define them (docs/redaction.md, "Checks").
import { pattern } from './rules.js';

/** @typedef {{pattern: string, check: string, mod?: number, weights?: number[], not?: string[]}} Checked */

const LETTERS_OF_DNI = 'TRWAGMYFPDXBNJZSQVHLCKE';
const CODICE = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
const TURNED = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** ISO/IEC 7812-1, annex B. @param {string} digits */
export function luhn(digits) {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const value = Number(digits[digits.length - 1 - i]) * (1 + (i % 2));
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** ISO 13616: mod 97 of ISO/IEC 7064 over the characters, the first four moved to the end. @param {string} key */
export function isIban(key) {
  return ibanRemainder(key) === 1;
}

/** @param {string} key without gaps, in capitals */
export function ibanRemainder(key) {
  let rest = 0;
  for (const letter of key.slice(4) + key.slice(0, 4)) {
    const value = Number.parseInt(letter, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/** The remainder of a number of any length. @param {string} digits @param {number} mod */
function remainder(digits, mod) {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % mod;
  return rest;
}

/** The last two digits are 97 less the remainder of those before (France, Belgium). @param {string} digits */
function mod97(digits) {
  return 97 - remainder(digits.slice(0, -2), 97) === Number(digits.slice(-2));
}

/** The same for Belgians born since 2000, whose number has a 2 put before it. @param {string} digits */
function mod97Of2000(digits) {
  return mod97(digits) || 97 - remainder(`2${digits.slice(0, -2)}`, 97) === Number(digits.slice(-2));
}

/** ISO/IEC 7064, mod 11,10. @param {string} digits */
function iso7064(digits) {
  let check = 5;
  for (const digit of digits) check = ((((check || 10) * 2) % 11) + Number(digit)) % 10;
  return check === 1;
}

/** Verhoeff 1969: the dihedral group of ten elements. @param {string} digits */
function verhoeff(digits) {
  let check = 0;
  [...digits].reverse().forEach((digit, place) => {
    let value = Number(digit);
    for (let i = 0; i < place % 8; i++) value = TURNED[value];
    check = dihedral(check, value);
  });
  return check === 0;
}

/** @param {number} a @param {number} b */
function dihedral(a, b) {
  if (a < 5) return b < 5 ? (a + b) % 5 : 5 + ((a + b) % 5);
  return b < 5 ? 5 + ((a - b + 5) % 5) : (a - b + 5) % 5;
}

/** Brazil: two check digits of modulus 11; a number of one digit alone is none. @param {string} digits */
function cpf(digits) {
  if (new Set(digits).size === 1) return false;
  return [9, 10].every((n) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += Number(digits[i]) * (n + 1 - i);
    return ((sum * 10) % 11) % 10 === Number(digits[n]);
  });
}

/** Spain: the letter of the number modulo 23; X, Y, Z before a number are 0, 1, 2. @param {string} key */
function letter23(key) {
  const digits = key.slice(0, -1).replace(/[XYZ]/g, (letter) => String('XYZ'.indexOf(letter)));
  return /^[0-9]+$/.test(digits) && LETTERS_OF_DNI[Number(digits) % 23] === key.slice(-1);
}

/** Italy: a letter of the sum of values by odd and even places. @param {string} key */
function codice(key) {
  let sum = 0;
  for (let place = 0; place < key.length - 1; place++) {
    const value = /[0-9]/.test(key[place]) ? Number(key[place]) : key.charCodeAt(place) - 65;
    sum += place % 2 ? value : CODICE[value];
  }
  return String.fromCharCode(65 + (sum % 26)) === key.slice(-1);
}

/** @type {Record<string, (key: string) => boolean>} */
const CHECKS = {
  none: () => true, luhn, mod97, mod97_of_2000: mod97Of2000, iso7064, verhoeff, cpf, letter23, codice,
};

/** Whether a key, of the rule's pattern, passes its check and is none of `not`. @param {Checked} rule @param {string} key */
export function holds({ check, mod = 0, weights = [], not = [] }, key) {
  if (not.some((each) => pattern(each).test(key))) return false;
  if (check !== 'weights') return CHECKS[check](key);
  return weights.reduce((sum, weight, i) => sum + weight * Number(key[i]), 0) % mod === 0;
}
