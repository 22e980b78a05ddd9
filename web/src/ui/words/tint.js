// What the tint of a conversation says.
import { lookedAt, nameOf, percent } from './attention.js';
import { counted, size } from './format.js';
import { t } from './languages/words.js';

/** @typedef {import('../state/tint/places.js').Place} Place */
/** @typedef {import('../state/tint/tint.js').Looked} Looked */
/** @typedef {import('../state/tint/tinted_chat.js').TintedChat} TintedChat */

const LONGEST_PLACE = 90;
const SPOKEN = 3;

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
export function fadedInWords(shares) {
  const faded = 1 - shares[0];
  return faded > 0 ? t('{share} of the chat has faded', { share: percent(faded) }) : t('Nothing has faded yet');
}

/** @param {number} value 0 to 65,535 */
export function brightnessInWords(value) {
  return t('{n}% bright', { n: Math.round((100 * value) / 65535) });
}
