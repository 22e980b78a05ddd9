import { sentence } from '../../words/explain.js';
import { describeError } from '../../../common/errors.js';
import { saveFile } from '../../view/download.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { fileOf } from './files.js';

/** @typedef {import('../../state/tint/tint.js').Tint} Tint */

const KINDS = /** @type {const} */ (['JSON', 'PNG', 'SVG']);

/** What is shown as a file: its numbers, or a picture of it. @param {{tint: Tint}} props */
export function Export({ tint }) {
  const app = useApp();
  const save = async (/** @type {typeof KINDS[number]} */ kind) => {
    try {
      const { name, blob } = await fileOf(kind, tint, app);
      saveFile(name, blob);
    } catch (error) {
      app.toasts.show(sentence(describeError(error).message));
    }
  };
  return (
    <div class="row" role="group" aria-label={t('Export')}>
      {KINDS.map((kind) => (
        <button key={kind} type="button" class="button quiet" aria-label={t('Export as {kind}', { kind })} onClick={() => void save(kind)}>
          {kind}
        </button>
      ))}
    </div>
  );
}
