// What else a model could have said at a token of a reply: loaded when somebody asks.

/** @typedef {import('./answers.js').Answered} Answered */
/** @typedef {import('../models/model.js').OpenModel} OpenModel */

/** How many alternatives a token has. */
export const ALTERNATIVES = 20;
// Tokens of one answer: each takes a pass of the head, and a page shows what is there.
const AT_ONCE = 16;
/** A part that others load as well. */
const logprobs = () => import('../../generation/logprobs.js');

/**
 * Tokens of a reply with their probabilities, from one of them on.
 * @param {OpenModel} model @param {Answered} answered @param {number} from
 * @returns {Promise<import('../messages.js').ReplyTokens>}
 */
export async function replyTokens(model, { prompt, log }, from) {
  const { tokenLogprobs } = await logprobs();
  const { kept } = log;
  const tokens = [];
  for (const [index, { token, state }] of kept.slice(from, from + AT_ONCE).entries()) {
    const at = from + index;
    const before = at > 0 ? kept[at - 1].token : prompt[prompt.length - 1];
    const found = state && (await tokenLogprobs(model.ends.head, state, token, 0));
    const control = model.tokenizer.control(token);
    const text = textAfter(model, before, token);
    tokens.push({ id: token, text, control: control !== null, logprob: found && found.logprob });
  }
  return { tokens, count: kept.length };
}

/**
 * The most likely tokens at the place of one, the likeliest first; with the compact head as far as its estimates hold.
 * @param {OpenModel} model @param {Answered} answered @param {number} at
 * @returns {Promise<import('../messages.js').Alternative[] | null>} null: they are not kept
 */
export async function alternativesAt(model, { prompt, log }, at) {
  const kept = log.kept[at];
  if (!kept?.state) return null;
  const before = at > 0 ? log.kept[at - 1].token : prompt[prompt.length - 1];
  const { tokenLogprobs } = await logprobs();
  const { top } = await tokenLogprobs(model.ends.head, kept.state, kept.token, ALTERNATIVES);
  return top.map(([id, logprob]) => [id, textAfter(model, before, id), logprob]);
}

/** A token's text as it follows another one; of a control token its name. @param {OpenModel} model @param {number} before @param {number} token */
function textAfter({ tokenizer }, before, token) {
  const text = tokenizer.decode([before, token]).slice(tokenizer.decode([before]).length);
  return text || tokenizer.decode([token], false);
}
