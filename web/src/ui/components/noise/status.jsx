import { useEffect, useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { noiseWish } from '../../../settings/noise.js';
import { sentence } from '../../words/explain.js';
import { budgetWords, epsilonWords, lossRows, mechanismWords } from '../../words/noise.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../noise/mode.js').NoiseStatus} Status */
/** @typedef {import('../../../noise/mode.js').Loss} Spent */

// What is typed is reckoned with when the typing pauses.
const PAUSE_MS = 400;

/** What the noise of the shown chat promises and has cost. */
export function NoiseStatus() {
  const { status, problem } = useStatus();
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  if (!status) return <p class="hint">The model’s table is being looked at…</p>;
  return (
    <div class="words">
      <dl class="facts losses">
        <dt>One token replaced, each time that it is sent</dt>
        <dd>epsilon {epsilonWords(status.token)}</dd>
      </dl>
      <SpentBy
        title="This chat under its present key, for texts of these lengths"
        nothing="Nothing was sent with noise under this key yet."
        loss={status.chat}
      />
      <SpentBy
        title="All that is recorded in this browser, for texts of these lengths"
        nothing="Nothing yet."
        loss={status.all}
      />
      {status.budget && (
        <p>
          <strong>Budget</strong>, for everything replaced: {budgetWords(status.budget)}.
        </p>
      )}
      <p class="hint">
        Delta of each epsilon: {status.delta}. {mechanismWords(status)}
      </p>
      {status.ownPenalty !== 1 && (
        <p class="hint">
          The model’s own repetition penalty ({status.ownPenalty}) is off: it looks at the clean prompt.
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
              <dd>epsilon {epsilon}</dd>
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
    if (!ready) return setShown({ ...NOTHING, problem: 'Shown once the model is here.' });
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
