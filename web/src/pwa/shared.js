/**
 * Text that another app hands to this one (Web Share Target, W3C): the service worker keeps it and leads to the page,
 * which puts it into the message field. It travels nowhere: as a POST it stands in no address and no server's log.
 */

export const SHARE_PATH = '/share';
export const SHARED = 'shared';
const PLACE = 'gatelink-shared';
const FIELDS = ['title', 'text', 'url'];
// As long as a draft that is kept may be.
const LONGEST = 20_000;

/** Whether a request is what another app shares. @param {Pick<Request, 'method' | 'url'>} request @param {string} origin */
export function isShared({ method, url }, origin) {
  const { origin: from, pathname } = new URL(url);
  return method === 'POST' && from === origin && pathname === SHARE_PATH;
}

/**
 * Keeps what is shared for the page, to which it leads.
 * @param {Request} request @param {CacheStorage} caches @returns {Promise<Response>}
 */
export async function keepShared(request, caches) {
  const origin = new URL(request.url).origin;
  // What cannot be read leads to the page all the same.
  const text = await request.formData().then(textOf, () => '');
  const cache = await caches.open(PLACE);
  if (text) await cache.put(`${origin}${SHARE_PATH}`, new Response(text));
  return Response.redirect(`${origin}/?${SHARED}`, 303);
}

/**
 * What was shared, once.
 * @param {CacheStorage} caches @param {string} origin @returns {Promise<string>} '': nothing
 */
export async function takeShared(caches, origin) {
  const cache = await caches.open(PLACE);
  const kept = await cache.match(`${origin}${SHARE_PATH}`);
  await caches.delete(PLACE);
  return kept ? (await kept.text()).slice(0, LONGEST) : '';
}

/** @param {FormData} form */
function textOf(form) {
  const values = FIELDS.map((name) => form.get(name)).filter((value) => typeof value === 'string');
  const texts = values.map((value) => String(value).trim()).filter(Boolean);
  // Many apps say the same thing twice, and the address within the text.
  const isSaid = (/** @type {string} */ text) => texts.some((other) => other !== text && other.includes(text));
  const own = [...new Set(texts)].filter((text) => !isSaid(text));
  return own.join('\n').slice(0, LONGEST);
}
