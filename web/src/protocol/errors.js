// Errors of the wire, one class per code of docs/protocol.md that a device can find by itself.
import { AppError } from '../common/errors.js';

/** The root of what is wrong with bytes or messages. */
export class WireError extends AppError {}

/** Bytes that are not a frame: wrong magic, cut short, or with bytes left over. */
export class MalformedFrame extends WireError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super('malformed_frame', `not a split.v1 frame: ${reason}; send the frame again, whole`, { cause });
  }
}

/** A frame longer than its receiver accepts. */
export class FrameTooLarge extends WireError {
  /** @param {number} size bytes @param {number} limit bytes */
  constructor(size, limit) {
    super(
      'frame_too_large',
      `frame of ${size} bytes exceeds the limit of ${limit} bytes; send fewer rows in one step`,
    );
  }
}

/** A well-framed message with a missing or ill-typed field. */
export class MalformedMessage extends WireError {
  /** @param {string} reason */
  constructor(reason) {
    super('malformed_message', `malformed message: ${reason}`);
  }
}

/** What a device asks for of the cache, and there is none of that kind. */
export class UnknownCache extends WireError {
  /** @param {string} asked */
  constructor(asked) {
    const what = `'cache' may be 'exact', 'int8', 'approximate' or 'off', and not '${asked.slice(0, 40)}'`;
    super('unknown_cache', `${what}; leave it out for exact`);
  }
}

export class UnknownMessage extends WireError {
  /** @param {string} kind */
  constructor(kind) {
    super('unknown_message', `unknown message type ${JSON.stringify(kind.slice(0, 40))}`);
  }
}

export class UnsupportedVersion extends WireError {
  /** @param {number} version @param {number} supported */
  constructor(version, supported) {
    super(
      'unsupported_version',
      `wire version ${version} is not supported, this client speaks ${supported}; update the older side`,
    );
  }
}

export class WrongDtype extends WireError {
  /** @param {string} dtype */
  constructor(dtype) {
    super('wrong_dtype', `dtype ${JSON.stringify(dtype.slice(0, 20))} is not one of f32, f16, bf16, i8`);
  }
}

/** A tensor whose shape is not what the message needs. */
export class WrongShape extends WireError {
  /** @param {number[]} shape @param {string} wanted */
  constructor(shape, wanted) {
    super('wrong_shape', `tensor of shape [${shape.join(', ')}] where ${wanted} is needed`);
  }
}

/** Rows of another width than the model's. */
export class WrongHiddenSize extends WireError {
  /** @param {number} got @param {number} wanted */
  constructor(got, wanted) {
    super(
      'wrong_hidden_size',
      `rows are ${got} wide, this model's hidden size is ${wanted}; pull the weights again`,
    );
  }
}

/** A tensor with NaN, infinity, or a value that its dtype cannot hold. */
export class NonFinite extends WireError {
  constructor() {
    super('non_finite', 'the tensor holds NaN or infinite values; nothing was cached');
  }
}

export class TooManyRows extends WireError {
  /** @param {number} rows @param {number} limit */
  constructor(rows, limit) {
    super('too_many_rows', `${rows} rows in one step exceed the limit of ${limit}; send several steps`);
  }
}

export class ContextOverflow extends WireError {
  /** @param {number} needed positions @param {number} limit positions */
  constructor(needed, limit) {
    super(
      'context_overflow',
      `${needed} positions exceed the context of ${limit}; shorten or start a new chat`,
    );
  }
}

/** A capability that this server did not announce. */
export class Unsupported extends WireError {
  /** @param {string} what */
  constructor(what) {
    super('unsupported', `${what} is not supported by this server`);
  }
}

/** More attention than one answer may carry. */
export class AttentionTooLarge extends WireError {
  /** @param {number} size bytes @param {number} limit bytes */
  constructor(size, limit) {
    super('attention_too_large', `${size} bytes of attention exceed the limit of ${limit} bytes`);
  }
}

/** Rows of attention that cannot be true; the states that came with them may be. */
export class AttentionInvalid extends WireError {
  /** @param {string} what */
  constructor(what) {
    super('attention_invalid', `the server told untrue attention: ${what}`);
  }
}

/** The server serves another model than the one whose ends the device holds. */
export class WireModelChanged extends WireError {
  constructor() {
    super('model_changed', 'the server serves another model now; pull its weights and start a new chat');
  }
}

/** A session was opened in another dtype than the one asked for. */
export class OtherDtype extends MalformedMessage {
  /** @param {string} asked @param {string} given */
  constructor(asked, given) {
    super(`'dtype' is ${given} where ${asked} was asked for`);
    this.asked = asked;
    this.given = given;
  }
}

/** The caller asked for something that its session's state does not allow: a bug, not an answer. */
export class ProtocolStateError extends AppError {
  /** @param {string} message */
  constructor(message) {
    super('protocol_state', message);
  }
}
