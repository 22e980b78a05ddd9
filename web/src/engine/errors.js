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

/** No adapter of this name. */
export class UnknownAdapter extends AppError {
  /** @param {string} name @param {string[]} known */
  constructor(name, known) {
    const there = known.length ? `there are: ${known.join(', ')}` : 'this server has none';
    super('unknown_adapter', `no adapter is called ${name}; ${there}`);
  }
}
