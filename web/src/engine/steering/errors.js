import { AppError } from '../../common/errors.js';

/** There is no reply, or none that can go on. */
export class NothingToContinue extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('nothing_to_continue', `nothing goes on: ${reason}`);
  }
}

/** No reply can go on from that token at that place. */
export class BranchInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('branch_invalid', `no reply goes on from there: ${reason}`);
  }
}
