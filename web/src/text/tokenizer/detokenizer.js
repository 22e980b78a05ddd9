// Token ids to text, one at a time.

/** Text in pieces whose concatenation is the decoded whole; special tokens are left out. */
export class Detokenizer {
  /**
   * @param {{stream: (skipSpecial: boolean) => {push: (id: number) => string, flush: () => string}}} tokenizer
   */
  constructor(tokenizer) {
    this.stream = tokenizer.stream(true);
  }

  /**
   * The text that a token completes, often empty; never half a character.
   * @param {number} token
   * @returns {string}
   */
  push(token) {
    return this.stream.push(token);
  }

  /** What is still held back, as replacement characters. @returns {string} */
  flush() {
    return this.stream.flush();
  }
}
