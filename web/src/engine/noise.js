// Noised modes of the engine. What makes noise is loaded when a chat first wants it.
import { PartMissing } from '../common/errors.js';
import { aborted } from '../transport/signals.js';

/** @typedef {import('../noise/mode.js').NoiseMode} NoiseMode */
/** @typedef {{NoiseMode: typeof import('../noise/mode.js').NoiseMode,
 *   records: import('../noise/mode.js').NoiseRecords}} Loaded */
/** @typedef {import('./models/model.js').OpenModel} OpenModel */
/** The noise of one chat.
 * @typedef {{mode: NoiseMode, conversation: import('../noise/conversation.js').NoisedConversation}} Noised */

// Every number that is typed is looked at on the way; the ones that were used last are kept.
const MOST_MODES = 16;

export class Noise {
  /** @param {(notice: import('./messages.js').Notice) => void} notify */
  constructor(notify) {
    this._notify = notify;
    /** @type {Promise<Loaded> | null} */
    this._loaded = null;
    /**
     * By settings, so that chats with the same ones share what was searched.
     * @type {WeakMap<OpenModel, Map<string, Promise<NoiseMode>>>}
     */
    this._modes = new WeakMap();
    /** One search of a table at a time: the next one finds what it has found. @type {Promise<unknown>} */
    this._searched = Promise.resolve();
  }

  /**
   * @param {import('./messages.js').NoiseWish} settings @param {OpenModel} model
   * @param {AbortSignal} [signal] ends the wait, not the search of the table
   * @returns {Promise<NoiseMode>} the same one for the same settings
   * @throws {import('../transport/errors.js').Cancelled | import('../common/errors.js').AppError} the latter: those of
   *   the room noise
   */
  async mode(settings, model, signal) {
    const modes = this._modes.get(model) ?? new Map();
    this._modes.set(model, modes);
    const name = JSON.stringify(settings);
    const known = modes.get(name);
    const mode = known ?? this._open(settings, model);
    modes.delete(name);
    modes.set(name, mode);
    // What failed may do at the next try.
    if (known === undefined) mode.catch(() => modes.delete(name));
    if (modes.size > MOST_MODES) modes.delete([...modes.keys()][0]);
    return signal ? Promise.race([mode, aborted(signal)]) : mode;
  }

  /** Deletes the key of a chat. @param {string} chat */
  async forget(chat) {
    const { records } = await this._load();
    await records.forget(chat);
  }

  /** @param {import('./messages.js').NoiseWish} settings @param {OpenModel} model */
  async _open(settings, model) {
    const { NoiseMode, records } = await this._load();
    const { digest, generation } = model.manifest;
    const about = { settings, table: tableOf(model), model: digest, generation };
    const progress = this._progress();
    const opened = this._searched.then(() => NoiseMode.open(records, about, progress.tell));
    this._searched = opened.catch(progress.end);
    return opened;
  }

  /** Tells of every percent, and of the end of a search that has begun, however it ended. */
  _progress() {
    let told = -1;
    const tell = (/** @type {number} */ done) => {
      const percent = Math.floor(100 * done);
      if (percent !== told) this._notify({ type: 'calibrating', done });
      told = percent;
    };
    return { tell, end: () => told >= 0 && tell(1) };
  }

  _load() {
    this._loaded ??= import('../noise/mode.js').then(
      ({ NoiseMode, NoiseRecords }) => ({ NoiseMode, records: new NoiseRecords() }),
      (error) => {
        this._loaded = null;
        throw new PartMissing(error);
      },
    );
    return this._loaded;
  }
}

/** @param {OpenModel} model @returns {import('../noise/calibration.js').Table} */
function tableOf(model) {
  const { embedding, hiddenSize, files } = model.manifest;
  const sha256 = files.find(({ name }) => name === embedding.file)?.sha256 ?? '';
  const clean = (/** @type {number[]} */ ids) => model.rows(ids, 'f32');
  return { clean, rows: embedding.rows, width: hiddenSize, sha256, scale: embedding.scale };
}
