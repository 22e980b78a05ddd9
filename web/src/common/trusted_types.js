/**
 * The addresses of workers pass here under Trusted Types (W3C), which the server's policy asks for; it allows
 * no other policy, so no text becomes HTML or a script. Part of every bundle.
 */

/**
 * @param {string} address
 * @returns {string} `address`, if it is of this server
 * @throws {TypeError}
 */
export function ownAddress(address) {
  const { href, origin } = globalThis.location;
  if (new URL(address, href).origin !== origin) throw new TypeError('a script of another server');
  return address;
}

/** @typedef {{createPolicy(name: string, rules: {createScriptURL(address: string): string}): unknown}} Factory */

const factory = /** @type {{trustedTypes?: Factory}} */ (globalThis).trustedTypes;
factory?.createPolicy('default', { createScriptURL: ownAddress });
