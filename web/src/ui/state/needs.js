// What the page is made of; types alone.

/** @typedef {import('../../settings/types').Settings} Settings */
/** The routing id of this browser, and another one. @typedef {{id: () => string, anew: () => string}} Routing */
/**
 * What the page needs of the browser and of the other rooms; tests give others.
 * @typedef {object} Needs
 * @property {() => import('../../engine/client.js').EngineClient} spawn
 * @property {() => Promise<import('../../chats/store.js').ChatStore>} openChats
 * @property {string} url of the server, without a trailing slash
 * @property {() => string | null} loadToken
 * @property {() => void} [forgetToken]
 * @property {Routing | null} [routing] null: nothing is told to whoever balances
 * @property {() => string | null} [cacheSalt] this browser's own, for servers that take no token
 * @property {() => Promise<void>} [showing] loads what replies are shown with
 * @property {Settings} settings
 * @property {(settings: Settings) => unknown} saveSettings
 * @property {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null} [memory]
 * @property {{frame?: (run: () => void) => unknown, now?: () => number}} [clock]
 * @property {import('./tabs/writers.js').Writers} [writers] of this browser's tabs
 */

export {};
