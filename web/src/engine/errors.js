import { AppError } from '../common/errors.js';

/** The engine worker cannot be started or has died, as when the browser runs out of memory. */
export class EngineFailed extends AppError {
  constructor() {
    super('engine_failed', 'the part that runs the model stopped, perhaps for want of memory; reload the page');
  }
}

/** The tokenizer took too long for a text; its patterns came with the model. */
export class TextTooCostly extends AppError {
  constructor() {
    super('text_too_costly', "the model's tokenizer was stopped at this text; reload the page and shorten it");
  }
}

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

/** No adapter of this name. */
export class UnknownAdapter extends AppError {
  /** @param {string} name @param {string[]} known */
  constructor(name, known) {
    const there = known.length ? `there are: ${known.join(', ')}` : 'this server has none';
    super('unknown_adapter', `no adapter is called ${name}; ${there}`);
  }
}

/** A part of the app that is loaded when it is needed cannot be had: offline, or the app is another one by now. */
export class PartMissing extends AppError {
  /** @param {unknown} cause */
  constructor(cause) {
    super('part_missing', 'a part of this page cannot be loaded; reload the page', { retryable: true, cause });
  }
}
