import { useRef } from 'preact/hooks';
import { inTheWay, readPositive } from '../../words/noise.js';
import { CheckedField } from '../controls/checked_field.jsx';
import { Choice } from '../controls/choice.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { NoiseStatus } from './status.jsx';

/** @typedef {import('../../../../types/gatelink').NoiseChoice} NoiseChoice */

const UNITS = /** @type {const} */ ([['epsilon', 'Epsilon'], ['sigma', 'Sigma']]);
const FIRST_SIGMA = 1;
const FIRST_EPSILON = 8;
const budgetHint = () =>
  t(
    'This chat sends nothing that would bring the epsilon of everything sent with noise from this browser beyond it; chats with another budget or none are not held back. Empty: no bound.',
  );
const clipHint = () =>
  t('Longer rows are scaled down to it. Empty: the norm that 99% of the table’s rows do not exceed.');

const AMOUNTS = {
  epsilon: () => ({
    label: t('Epsilon of one token'),
    hint: t('When one token is replaced, each time that it is sent. Smaller is more noise.'),
  }),
  sigma: () => ({
    label: 'Sigma',
    hint: t('Of the noise in every value; larger is more noise.'),
  }),
};

/** How much noise, and where it ends. */
export function NoiseSettings() {
  const app = useApp();
  const chat = app.library.chat.value;
  const noise = /** @type {NoiseChoice} */ (chat.noise);
  const unit = noise.epsilon === null ? 'sigma' : 'epsilon';
  const other = useRef({ epsilon: FIRST_EPSILON, sigma: FIRST_SIGMA });
  const put = (/** @type {Partial<NoiseChoice>} */ changes) => app.changeNoise({ ...noise, ...changes });
  const turn = (/** @type {'epsilon' | 'sigma'} */ next) => {
    other.current[unit] = noise[unit] ?? other.current[unit];
    put({ [unit]: null, [next]: other.current[next] });
  };
  return (
    <>
      {inTheWay(app.settings.value, chat.adapter).map((words) => (
        <p class="problem" key={words}>
          {words}
        </p>
      ))}
      <Choice
        name="noise-unit"
        label={t('How much')}
        options={UNITS}
        value={unit}
        onChange={turn}
        disabled={app.fixed.value}
      />
      <CheckedField
        key={unit}
        id="noise-amount"
        {...AMOUNTS[unit]()}
        text={String(noise[unit])}
        read={(text) => readPositive(text)}
        onChange={(value) => put({ [unit]: value })}
      />
      <CheckedField
        id="noise-budget"
        label={t('Budget')}
        hint={budgetHint()}
        text={textOf(noise.budget)}
        read={(text) => readPositive(text, { empty: true })}
        onChange={(value) => put({ budget: value })}
      />
      <details class="more-settings" open={noise.clip !== null || noise.delta !== 1e-5}>
        <summary>{t('More noise settings')}</summary>
        <div class="section">
          <CheckedField
            id="noise-clip"
            label={t('Clip norm C')}
            hint={clipHint()}
            text={textOf(noise.clip)}
            read={(text) => readPositive(text, { empty: true })}
            onChange={(value) => put({ clip: value })}
          />
          <CheckedField
            id="noise-delta"
            label="Delta"
            hint={t('Of every epsilon here. Epsilons at different deltas must not be compared.')}
            text={String(noise.delta)}
            read={(text) => readPositive(text, { below: 1 })}
            onChange={(value) => put({ delta: value ?? noise.delta })}
          />
        </div>
      </details>
      <p class="hint">{t('Other noise is another release: what is sent again after a change here counts anew.')}</p>
      <NoiseStatus />
    </>
  );
}

/** @param {number | null} value */
function textOf(value) {
  return value === null ? '' : String(value);
}
