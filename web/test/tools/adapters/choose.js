// Chooses adapters on request of another language. JSON on stdin: {"folded": [text], "words": [text],
// "choices": [{text, adapters: [[keyword, ...], ...]}]}; on stdout the folded texts, their words, the indices
// chosen (-1: none).
import { readFileSync } from 'node:fs';
import { casefold } from '../../../src/adapters/casefold.js';
import { choose, wordsOf } from '../../../src/adapters/choice.js';

/** @param {any} request */
function chosen({ text, adapters }) {
  const infos = adapters.map((/** @type {string[]} */ keywords, /** @type {number} */ index) => ({
    ...{ name: `${index}`, description: '', rank: 1, hiddenSize: 1, scale: 1, encrypted: false },
    keywords,
  }));
  return Number(choose(text, infos)?.name ?? -1);
}

const { folded, words, choices } = JSON.parse(readFileSync(0, 'utf8'));
const answer = { folded: folded.map(casefold), words: words.map(wordsOf), choices: choices.map(chosen) };
process.stdout.write(JSON.stringify(answer));
