// Tokenizes on request of another language. JSON on stdin: a list of {file, rows, texts, ids, special};
// on stdout, for each, {encoded, decoded, pieces}, or {refused: {code, message}} where the tokenizer is
// refused. `pieces`: of each list of ids, what a Detokenizer gives token by token.
import { readFileSync } from 'node:fs';
import { describeError } from '../../../src/common/errors.js';
import { Detokenizer } from '../../../src/text/tokenizer/detokenizer.js';
import { ModelTokenizer } from '../../../src/text/tokenizer/tokenizer.js';

/** @param {any} request */
function answer({ file, rows, texts = [], ids = [], special = false }) {
  const tokenizer = ModelTokenizer.open(file, rows);
  return {
    encoded: texts.map((/** @type {string} */ text) => tokenizer.encode(text, { addSpecialTokens: special })),
    decoded: ids.map((/** @type {number[]} */ list) => [
      tokenizer.decode(list),
      tokenizer.decode(list, false),
    ]),
    pieces: ids.map((/** @type {number[]} */ list) => {
      const detokenizer = new Detokenizer(tokenizer);
      return [...list.map((id) => detokenizer.push(id)), detokenizer.flush()];
    }),
  };
}

/** @param {any} request */
function answerOrRefusal(request) {
  try {
    return answer(request);
  } catch (error) {
    return { refused: describeError(error) };
  }
}

const requests = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(requests.map(answerOrRefusal)));
