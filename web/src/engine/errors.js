import { AppError } from '../common/errors.js';

/** A reply is being made; one at a time is. */
export class ReplyInProgress extends AppError {
  constructor() {
    super('reply_in_progress', 'a reply is being made; stop it or wait for its end');
  }
}

/** Something was asked for before what it needs. */
export class NotReady extends AppError {
  /** @param {string} step what has to come first */
  constructor(step) {
    super('not_ready', `${step} first`);
  }
}

/** The page asked for another connection before this one had come about. */
export class ConnectSuperseded extends AppError {
  constructor() {
    super('connect_superseded', 'another connection was asked for meanwhile');
  }
}

/** The server serves another model than the one that is downloaded. */
export class WeightsChanged extends AppError {
  constructor() {
    super('weights_changed', 'the server serves another model now; connect again to download that one');
  }
}

/** The model has no chat template. */
export class TemplateMissing extends AppError {
  constructor() {
    super('template_missing', 'this model has no chat template; use plain text');
  }
}

/** A download was paused; what is there stays there. */
export class Paused extends AppError {
  constructor() {
    super('paused', 'the download is paused; it goes on where it stopped');
  }
}

/** The prompt is longer than the budget of its chat, or leaves no room for a reply. */
export class ContextFull extends AppError {
  /** @param {number} tokens @param {number} budget tokens */
  constructor(tokens, budget) {
    super(
      'context_full',
      `the prompt has ${told(tokens)} tokens and the budget of this chat is ${told(budget)}; leave something out of the ` +
        'context, raise the budget, or begin a new chat',
    );
  }
}

/** What may not be left out is longer than the budget of the chat. */
export class ContextTooSmall extends AppError {
  /** @param {number} tokens @param {number} budget tokens */
  constructor(tokens, budget) {
    super(
      'context_too_small',
      `what stays in the context (system prompt, first message, last turn, what is pinned) has ${told(tokens)} tokens and ` +
        `the budget is ${told(budget)}; shorten the system prompt, unpin something, leave it out by hand, or raise the budget`,
    );
  }
}

/** @param {number} tokens */
function told(tokens) {
  return tokens.toLocaleString('en');
}

/** No adapter of this name. */
export class UnknownAdapter extends AppError {
  /** @param {string} name @param {string[]} known */
  constructor(name, known) {
    const there = known.length ? `there are: ${known.join(', ')}` : 'this server has none';
    super('unknown_adapter', `no adapter is called ${name}; ${there}`);
  }
}

/** Rows that nobody kept would be one more release of noised rows, which no account would know of. */
export class AttentionNoised extends AppError {
  constructor() {
    super('attention_noised', 'a chat with noise fetches no rows of attention: what it sent would be sent once more');
  }
}
