// Tokenizer and chat template for a page of the tests.
import { describeError } from '../../../src/common/errors.js';
import { ChatTemplate } from '../../../src/text/template/template.js';
import { ModelTokenizer } from '../../../src/text/tokenizer/tokenizer.js';

const page = /** @type {any} */ (window);

page.encode = (/** @type {string} */ file, /** @type {string[]} */ texts) => {
  const tokenizer = ModelTokenizer.open(file, 1 << 20);
  return texts.map((text) => tokenizer.encode(text));
};

page.render = async (
  /** @type {string} */ source,
  /** @type {object[]} */ messages,
  /** @type {number} */ seconds,
) => {
  const template = new ChatTemplate(source, { bos_token: '<s>' }, { seconds });
  try {
    return { text: await template.render(messages) };
  } catch (error) {
    return { refused: describeError(error).code };
  } finally {
    template.close();
  }
};
