// What the tint of a conversation says.
import { lookedAt, nameOf, percent } from './attention.js';
import { counted, decimal, size } from './format.js';
import { t } from './languages/words.js';

/** @typedef {import('../state/tint/places.js').Place} Place */
/** @typedef {import('../state/tint/tint.js').Looked} Looked */
/** @typedef {import('../state/tint/tinted_chat.js').TintedChat} TintedChat */

const LONGEST_PLACE = 90;
const SPOKEN = 3;
// As percentages are written, with one digit behind the point.
const LEAST_SHARE = 0.001;

/** Whose a place is. @param {{number: number, role: string}} place */
export function whose({ number, role }) {
  if (role === 'system') return t('System prompt');
  return role === 'user' ? t('You, message {n}', { n: number }) : t('Reply, message {n}', { n: number });
}

/** @param {{text: string}} place */
export function quoted({ text }) {
  const line = text.replace(/\s+/g, ' ').trim();
  const letters = [...line];
  const short = letters.length > LONGEST_PLACE ? `${letters.slice(0, LONGEST_PLACE - 1).join('')}…` : line;
  return t('“{text}”', { text: short });
}

/** @param {TintedChat} chat @param {Looked} looked */
export function lookedCaption(chat, { piece, alone }) {
  const token = nameOf(chat.textOf(piece));
  if (!alone) return lookedAt(token);
  return t('To choose {token}, it looked at by layer {layer}, head {head}', {
    token, layer: alone.layer + 1, head: alone.head + 1,
  });
}

/** For a screen reader. @param {TintedChat} chat @param {Looked} looked */
export function lookedInWords(chat, looked) {
  if (looked.asking) return '';
  if (!looked.shares) {
    return t('What was looked at to choose {token} is not kept.', { token: nameOf(chat.textOf(looked.piece)) });
  }
  const named = looked.places.slice(0, SPOKEN).map((place) => `${whose(place)}, ${quoted(place)} ${percent(place.share)}`);
  return `${lookedCaption(chat, looked)}: ${named.join('; ')}`;
}

/** What fetching all heads of a token costs. @param {Looked['cost']} cost @param {number} layers */
export function costInWords(cost, layers) {
  if (!cost) {
    return t('2 bytes down for each of the heads of {layers} and each token before it', {
      layers: counted(layers, 'layer'),
    });
  }
  return t('at most {down} down, and {up} up where the server has not kept what stands before it', {
    down: size(cost.down), up: size(cost.up),
  });
}

/** How much of a chat has which brightness. @param {number[]} shares of its tokens by level */
export function levelsInWords(shares) {
  const [bright, dim, dimmer, dimmest] = shares.map(percent);
  return t(
    'Bright: {bright} of the tokens, dim: {dim}, dimmer: {dimmer}, dimmest: {dimmest}. What replies look at grows brighter.',
    { bright, dim, dimmer, dimmest },
  );
}

/** How much of a chat has faded. @param {number[]} shares of its tokens by level */
export function fadedInWords([, ...dim]) {
  const faded = dim.reduce((sum, share) => sum + share, 0);
  if (!(faded > 0)) return t('Nothing has faded yet');
  const share = faded < LEAST_SHARE / 2 ? t('<{n}%', { n: decimal(100 * LEAST_SHARE, 1) }) : percent(faded);
  return t('{share} of the chat has faded', { share });
}

/** @param {number} value 0 to 65,535 */
export function brightnessInWords(value) {
  return t('{n}% bright', { n: Math.round((100 * value) / 65535) });
}
