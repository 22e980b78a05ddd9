import { AppError } from '../../common/errors.js';

/** Neither a pairing code nor a token. */
export class CredentialInvalid extends AppError {
  constructor() {
    super('credential_invalid', 'that is neither a pairing code (XXXX-XXXX) nor a token; copy it again');
  }
}

const CODE = /^[0-9A-Za-z]{4}[ -]?[0-9A-Za-z]{4}$/;

/**
 * What a person typed or pasted: a code, a token, or the whole link of a pairing.
 * @param {string} text
 * @param {(text: string) => boolean} isToken
 * @returns {{kind: 'code', code: string} | {kind: 'token', token: string}} throws CredentialInvalid
 */
export function readCredential(text, isToken) {
  const trimmed = text.trim();
  const link = /^https?:\/\/[^#]+#([0-9A-Za-z-]+)(?:\.|$)/.exec(trimmed);
  const code = link ? link[1] : trimmed;
  if (CODE.test(code)) {
    const letters = code.replace(/[ -]/g, '').toUpperCase();
    return { kind: 'code', code: `${letters.slice(0, 4)}-${letters.slice(4)}` };
  }
  if (isToken(trimmed)) return { kind: 'token', token: trimmed };
  throw new CredentialInvalid();
}
