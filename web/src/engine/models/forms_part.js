// What the first form needs.
export { Forms } from '../../grammar/forms.js';
export { tokenBytes } from '../../text/tokenizer/token_bytes.js';
