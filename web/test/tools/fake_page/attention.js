// Spans and rows of a reply without a model: weights fall off with the distance, and repeat where words do.

const CONTROL = '<|im_end|>';

/** What FakeEngine keeps of its latest reply. */
export class FakeReplyAttention {
  /** @param {{role: string, content: string}[]} messages */
  constructor(messages) {
    /** @type {any[]} */
    this.spans = [];
    for (const { role, content } of messages) {
      this._add('<|im_start|>', 'control');
      this._add(`${role}\n`, 'template');
      for (const text of content.match(/\s*\S+/g) ?? []) this._add(text, role);
      this._add(CONTROL, 'control');
      this._add('\n', 'template');
    }
    this.promptTokens = this.spans.length;
  }

  /** @param {string} text */
  push(text) {
    this._add(text, 'assistant');
  }

  /** @param {number} from */
  attended(from) {
    const tokens = this.spans.length - this.promptTokens;
    const spans = this.spans.slice(from, from + 1000);
    const more = from + spans.length < this.spans.length;
    return { promptTokens: this.promptTokens, tokens, first: 0, end: tokens, spans, more };
  }

  /** @param {number | null} token */
  row(token) {
    const end = token === null ? this.spans.length - 1 : this.promptTokens + token;
    const { text } = this.spans[end];
    const row = new Float32Array(end);
    for (let i = 1; i < end; i++) {
      const same = text.length > 3 && this.spans[i].text === text ? 4 : 0;
      row[i] = (1 + ((i * 7919 + end * 104729) % 13) / 13 + same) / (1 + (end - i) / 4);
    }
    row[0] = 3;
    const sum = row.reduce((total, weight) => total + weight, 0);
    for (let i = 0; i < end; i++) row[i] /= sum;
    return row;
  }

  /** @param {string} text @param {string} kind */
  _add(text, kind) {
    const start = this.spans.length;
    this.spans.push({ text, start, stop: start + 1, kind });
  }
}
