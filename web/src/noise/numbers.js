// Numbers in messages.

/** Up to four digits that count, as a person reads them. @param {number} value @returns {string} */
export function plainNumber(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'without bound';
}
