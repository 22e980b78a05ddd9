/**
 * Reading aloud, with voices of the device alone: what others are given is sent to whoever made the browser.
 */
import { signal } from '@preact/signals';
import { rough } from '../messages/rough.js';

/** @typedef {Pick<SpeechSynthesisVoice, 'localService' | 'lang'>} Voice */

// Some browsers end a longer utterance in its middle.
const LONGEST_PIECE = 200;
const LONGEST_TEXT = 40_000;
const VOICES_MS = 1000;

/** The message that is read aloud; null: none is. @type {import('@preact/signals').Signal<string | null>} */
export const spoken = signal(null);

/**
 * Reads a message aloud, or stops where it is the one that is read.
 * @param {string} id @param {string} text
 * @returns {Promise<boolean>} false: the device has no voice of its own
 */
export async function toggleSpeech(id, text) {
  const stops = spoken.value === id;
  speechSynthesis.cancel();
  spoken.value = null;
  if (stops) return true;
  const voice = localVoice(await voicesHere(), navigator.languages);
  if (!voice) return false;
  spoken.value = id;
  const pieces = piecesOf(rough(text.slice(0, LONGEST_TEXT)));
  pieces.forEach((piece, index) => utter(piece, voice, index === pieces.length - 1 ? id : null));
  if (!pieces.length) spoken.value = null;
  return true;
}

/** Nothing is read any more, as where another chat is shown. */
export function hush() {
  if (spoken.value === null) return;
  speechSynthesis.cancel();
  spoken.value = null;
}

/**
 * A voice that speaks without the network, of the first of a person's languages that has one.
 * @template {Voice} V
 * @param {readonly V[]} voices @param {readonly string[]} languages as `navigator.languages`
 * @returns {V | null}
 */
export function localVoice(voices, languages) {
  // What does not say that it is local is not.
  const local = voices.filter((voice) => voice.localService === true);
  for (const language of languages) {
    const [base] = language.toLowerCase().split('-');
    const found = local.find((voice) => voice.lang.toLowerCase().split(/[-_]/)[0] === base);
    if (found) return found;
  }
  return local[0] ?? null;
}

/** Sentences, put together up to a length. @param {string} text @returns {string[]} */
export function piecesOf(text) {
  /** @type {string[]} */
  const pieces = [];
  for (const sentence of text.match(/[^.!?\n]{1,200}[.!?]*\s*|[.!?\n]+/g) ?? []) {
    const last = pieces.length - 1;
    if (last >= 0 && pieces[last].length + sentence.length <= LONGEST_PIECE) pieces[last] += sentence;
    else pieces.push(sentence);
  }
  return pieces.filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}

/** @param {string} piece @param {SpeechSynthesisVoice} voice @param {string | null} last of this message */
function utter(piece, voice, last) {
  const utterance = new SpeechSynthesisUtterance(piece);
  utterance.voice = voice;
  utterance.lang = voice.lang;
  const ended = () => {
    if (last !== null && spoken.value === last) spoken.value = null;
  };
  utterance.onend = ended;
  utterance.onerror = ended;
  speechSynthesis.speak(utterance);
}

/** Some browsers know their voices only after a while. @returns {Promise<SpeechSynthesisVoice[]>} */
function voicesHere() {
  const voices = speechSynthesis.getVoices();
  if (voices.length) return Promise.resolve(voices);
  return new Promise((resolve) => {
    const done = () => resolve(speechSynthesis.getVoices());
    speechSynthesis.addEventListener('voiceschanged', done, { once: true });
    setTimeout(done, VOICES_MS);
  });
}
