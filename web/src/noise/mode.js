// Noised mode of one model: calibrated once, one account for each chat, chats with keys of their own.
import { AppError } from '../common/errors.js';
import { Account } from './ledger/account.js';
import { calibrate } from './calibration.js';
import { NoisedConversation } from './conversation.js';
import { NoiseDatabase } from './database.js';
import { NoiseDtypeChanged, NoiseSettingInvalid } from './errors.js';
import { KeptChat } from './kept_chat.js';
import { Ledger } from './ledger/ledger.js';
import { RowMechanism } from './mechanism/mechanism.js';
import { requireBlindAdapter, requireBlindSampling, withoutPenalty } from './rules.js';
import { IDENTITY, checkedSettings } from './settings.js';
import { Budget } from './ledger/spent.js';

/** @typedef {import('./settings.js').NoiseSettings} NoiseSettings */
/** @typedef {import('./ledger/spent.js').Spent} Spent */
/** @typedef {import('./calibration.js').Table} Table */
/** @typedef {import('./calibration.js').OnProgress} OnProgress */
/**
 * A loss in both units; Infinity where nothing is proven. `sendings`: how often the same token may have
 * been sent.
 * @typedef {{rows: number, sendings: number, token: number, whole: number}} Loss
 */
/**
 * What the noise promises and what was spent. `token`: epsilon of one token replaced, each time that it is
 * sent. `chat` and `all` hold for texts of these lengths. `budget.room`: further rows, of up to a million.
 * @typedef {{delta: number, clip: number, sigma: number, width: number, sensitivity: number, exact: boolean,
 *   token: number, chat: Loss, all: Loss, budget: {epsilon: number, spent: number, room: number} | null,
 *   ownPenalty: number}} NoiseStatus
 */

const MOST_ROOM = 1_000_000;

/** What all noised modes of a browser share: its database and the ledger in it. */
export class NoiseRecords {
  /** @param {NoiseDatabase} [database] */
  constructor(database = new NoiseDatabase()) {
    this.database = database;
    this.ledger = new Ledger(database);
  }

  /**
   * Deletes a chat's key: what it sends from then on has other noise and counts anew.
   * @param {string} chat
   */
  forget(chat) {
    return KeptChat.forget(this.database, chat);
  }
}

export class NoiseMode {
  /**
   * @param {NoiseRecords} records
   * @param {{settings: NoiseSettings, table: Table, model: string, generation: Record<string, number>,
   *   calibration: import('./calibration.js').Calibration}} about
   * @throws {NoiseSettingInvalid}
   */
  constructor(records, { settings, table, model, generation, calibration }) {
    this._records = records;
    this._settings = settings;
    this._table = table;
    this._model = model;
    this._exact = calibration.exact;
    this._ownPenalty = generation.repetition_penalty ?? 1;
    this._mechanism = mechanismOf(settings, calibration, table.width);
    /** The model's own sampling, without what would tell of the prompt. */
    this.generation = withoutPenalty(generation);
    /** Why a server that wants rows in another dtype is sent none. */
    this.otherDtype = (/** @type {string} */ began, /** @type {string} */ wanted) =>
      new NoiseDtypeChanged(began, wanted);
  }

  /**
   * @param {NoiseRecords} records
   * @param {{settings: Partial<NoiseSettings>, table: Table, model: string,
   *   generation: Record<string, number>}} about `model`: digest of its manifest, `generation` of it
   * @param {OnProgress} [onProgress] of the search for the table's numbers, which is made once
   * @returns {Promise<NoiseMode>}
   * @throws {NoiseSettingInvalid | AppError} the latter: the ledger's errors
   */
  static async open(records, { settings, ...about }, onProgress) {
    const checked = checkedSettings(settings);
    const calibration = await calibrate(about.table, checked.clip, records.database, { onProgress });
    return new NoiseMode(records, { settings: checked, ...about, calibration });
  }

  /** @param {string} chat its id @returns {Promise<NoisedConversation>} throws the ledger's errors */
  async conversation(chat) {
    const kept = await KeptChat.open(this._records.database, chat);
    const about = { mechanism: this._mechanism, clean: this._table.clean, model: this._model };
    return new NoisedConversation({ ...about, account: this._account(), kept });
  }

  /**
   * What noise rules out.
   * @param {import('../../types/gatelink').SamplingParams} params @param {string | null} adapter
   * @throws {import('./errors.js').NoiseForbids}
   */
  require(params, adapter) {
    requireBlindSampling(params);
    requireBlindAdapter(adapter);
  }

  /**
   * What the noise promises and what was spent.
   * @param {string} chat its id @param {() => number} [ahead] rows that are recorded for it and not sent yet
   * @returns {Promise<NoiseStatus>} throws the ledger's errors
   */
  async status(chat, ahead = () => 0) {
    const { delta } = this._settings;
    const account = this._account();
    const before = ahead();
    const recorded = await account.spent();
    const recordedHere = await KeptChat.spentBy(this._records.database, chat);
    // What is recorded or given back meanwhile may be in what was read, so the totals are rather too high.
    const back = { rows: -Math.min(before, ahead()) };
    const all = recorded.plus(account.kind, back);
    const own = recordedHere.plus(account.kind, back);
    const { clip, sigma, width, sensitivity } = this._mechanism;
    return {
      delta, clip, sigma, width, sensitivity,
      exact: this._exact,
      token: this._mechanism.epsilon(delta),
      chat: lossOf(own, delta),
      all: lossOf(all, delta),
      budget: account.budget && budgetStatus(account.budget, all, account.kind),
      ownPenalty: this._ownPenalty,
    };
  }

  _account() {
    const { sigma, distance, width } = this._mechanism;
    const { budget, delta } = this._settings;
    return new Account({
      ledger: this._records.ledger,
      identity: IDENTITY,
      model: this._model,
      kind: { sigma, distance, width },
      budget: budget === null ? null : new Budget(budget, delta),
    });
  }
}

/**
 * @param {NoiseSettings} settings @param {import('./calibration.js').Calibration} calibration
 * @param {number} width
 */
function mechanismOf({ epsilon, sigma, delta }, { clip, sensitivity }, width) {
  try {
    if (epsilon !== null) return RowMechanism.forEpsilon({ epsilon, delta, clip, sensitivity, width });
    return new RowMechanism({ sigma: /** @type {number} */ (sigma), clip, sensitivity, width });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_privacy_parameter')) throw error;
    throw new NoiseSettingInvalid(`noise cannot be made so: ${error.message}`);
  }
}

/** @param {Spent} spent @param {number} delta @returns {Loss} */
function lossOf(spent, delta) {
  const { rows, sendings } = spent;
  return { rows, sendings, token: spent.tokenEpsilon(delta), whole: spent.epsilon(delta) };
}

/** @param {Budget} budget @param {Spent} spent @param {import('./ledger/spent.js').Kind} kind */
function budgetStatus(budget, spent, kind) {
  const room = budget.room(spent, kind, MOST_ROOM);
  return { epsilon: budget.epsilon, spent: spent.epsilon(budget.delta), room };
}
