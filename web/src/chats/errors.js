/** Errors of chats that are kept on this device. */
import { AppError } from '../common/errors.js';

/** There is nothing to say or to answer. */
export class PromptEmpty extends AppError {
  constructor() {
    super('prompt_empty', 'the prompt is empty; write something');
  }
}

/** A node that this chat does not have, or a step that its place in the tree does not allow. */
export class ChatStepInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('chat_step_invalid', reason);
  }
}

/** A document that is no saved chat. */
export class ConversationFileInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('conversation_file_invalid', `this is not a chat that can be imported: ${reason}`);
  }
}

export class ChatTooLarge extends AppError {
  /** @param {string} what */
  constructor(what) {
    super('chat_too_large', `${what}; begin a new chat`);
  }
}

export class TooManyChats extends AppError {
  /** @param {number} most */
  constructor(most) {
    super('too_many_chats', `there are ${most} chats already; delete some first`);
  }
}

/** Another tab has saved or removed it since this one read it. */
export class ChatChanged extends AppError {
  constructor() {
    super('chat_changed', 'this chat was changed in another tab; reload it, or keep this one as a copy');
  }
}

export class ChatUnknown extends AppError {
  constructor() {
    super('chat_unknown', 'there is no such chat any more; another tab may have deleted it');
  }
}

export class StorageFull extends AppError {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('storage_full', 'the storage of this browser is full; delete chats or a model', { cause });
  }
}

/** The browser's database failed. */
export class ChatStoreFailed extends AppError {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('chat_store_failed', 'the browser cannot read or write saved chats; reload the page', {
      retryable: true,
      cause,
    });
  }
}

/** A row of attention, or kept brightness, that is none. */
export class BrightnessInvalid extends AppError {
  /** @param {string} what */
  constructor(what) {
    super('brightness_invalid', what);
  }
}
