import { useEffect, useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { noiseWish } from '../../../settings/noise.js';
import { sentence } from '../../words/explain.js';
import { budgetWords, epsilonWords, lossRows, mechanismWords } from '../../words/noise.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Said } from '../controls/said.jsx';

/** @typedef {import('../../../noise/mode.js').NoiseStatus} Status */
/** @typedef {import('../../../noise/mode.js').Loss} Spent */

// What is typed is reckoned with when the typing pauses.
const PAUSE_MS = 400;

/** What the noise of the shown chat promises and has cost. */
export function NoiseStatus() {
  const { status, problem } = useStatus();
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  if (!status) return <p class="hint">{t('The model’s table is being looked at…')}</p>;
  return (
    <div class="words">
      <dl class="facts losses">
        <dt>{t('One token replaced, each time that it is sent')}</dt>
        <dd>{t('epsilon {n}', { n: epsilonWords(status.token) })}</dd>
      </dl>
      <SpentBy
        title={t('This chat under its present key, for texts of these lengths')}
        nothing={t('Nothing was sent with noise under this key yet.')}
        loss={status.chat}
      />
      <SpentBy
        title={t('All that is recorded in this browser, for texts of these lengths')}
        nothing={t('Nothing yet.')}
        loss={status.all}
      />
      {status.budget && (
        <p>
          <Said text={t('*Budget*, for everything replaced: {spent}.', { spent: budgetWords(status.budget) })} />
        </p>
      )}
      <p class="hint">
        {t('Delta of each epsilon: {delta}.', { delta: status.delta })} {mechanismWords(status)}
      </p>
      {status.ownPenalty !== 1 && (
        <p class="hint">
          {t('The model’s own repetition penalty ({penalty}) is off: it looks at the clean prompt.', {
            penalty: status.ownPenalty,
          })}
        </p>
      )}
    </div>
  );
}

/** @param {{title: string, nothing: string, loss: Spent}} props */
function SpentBy({ title, nothing, loss }) {
  return (
    <div>
      <p>
        <strong>{title}</strong>
      </p>
      {loss.rows === 0 ? (
        <p class="hint">{nothing}</p>
      ) : (
        <dl class="facts losses">
          {lossRows(loss).map(([what, epsilon]) => (
            <>
              <dt key={what}>{what}</dt>
              <dd>{t('epsilon {n}', { n: epsilon })}</dd>
            </>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Asked for anew when the settings change, when a reply begins or ends, and when any tab saves a chat. */
function useStatus() {
  const app = useApp();
  const { id, noise } = app.library.chat.value;
  const ready = app.connection.phase.value.name === 'ready';
  const replying = app.replies.running.value !== null;
  const saved = app.library.list.value;
  const wish = JSON.stringify(noiseWish(noise));
  const [shown, setShown] = useState(/** @type {{status: Status | null, problem: string}} */ (NOTHING));
  useEffect(() => {
    if (!ready) return setShown({ ...NOTHING, problem: t('Shown once the model is here.') });
    let current = true;
    const show = (/** @type {Partial<typeof shown>} */ next) => current && setShown({ ...NOTHING, ...next });
    const timer = setTimeout(() => {
      app.connection.engine.noise(id, JSON.parse(wish)).then(
        (status) => show({ status }),
        (error) => show({ problem: sentence(describeError(error).message) }),
      );
    }, shown === NOTHING ? 0 : PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [id, wish, ready, replying, saved]);
  return shown;
}

const NOTHING = { status: null, problem: '' };
