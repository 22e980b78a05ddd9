import { useState } from 'preact/hooks';
import { DEFAULTS } from '../../../settings/settings.js';
import {
  NUMBER_FIELDS, readBias, readNumber, readSeed, readStops, recommended, writeBias, writeStops,
} from '../../words/sampling.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Choice } from '../controls/choice.jsx';
import { CheckedField } from '../controls/checked_field.jsx';
import { NumberSetting } from '../controls/number_setting.jsx';
import { Drafts } from './drafts.jsx';

/** @typedef {import('../../../settings/types').Settings} Settings */

const NAMES = /** @type {(keyof Settings)[]} */ (
  [...NUMBER_FIELDS.map((field) => field.name), 'seed', 'stop', 'logit_bias']
);

const FIRST = ['temperature', 'top_p', 'max_tokens'];
const LATER = NAMES.filter((name) => !FIRST.includes(name));

/** How the next token is chosen. What is not set follows the model's recommendation. */
export function SamplingSection() {
  const app = useApp();
  const settings = app.settings.value;
  // As it stood when the sheet was opened: it does not close under the hands of who empties a field.
  const [open] = useState(() => touched(settings, [...LATER, 'server_cache', 'drafts', 'draft_memory']));
  const reset = () => app.change(Object.fromEntries(NAMES.map((name) => [name, DEFAULTS[name]])));
  return (
    <section class="section" aria-labelledby="sampling">
      <div class="section-head">
        <h3 id="sampling">{t('Sampling')}</h3>
        <button type="button" class="button quiet" disabled={!touched(settings, NAMES)} onClick={reset}>
          {t('Reset all')}
        </button>
      </div>
      {FIRST.map((name) => (
        <Setting key={name} name={name} />
      ))}
      <details class="more-settings" open={open}>
        <summary>{t('More settings')}</summary>
        <div class="section">
          {NUMBER_FIELDS.filter(({ name }) => !FIRST.includes(name)).map(({ name }) => (
            <Setting key={name} name={name} />
          ))}
          <Texts />
          <Drafts />
          <Keeping />
        </div>
      </details>
    </section>
  );
}

/** @param {{name: string}} props */
function Setting({ name }) {
  const app = useApp();
  const key = /** @type {keyof Settings} */ (name);
  const field = /** @type {import('../../words/sampling.js').NumberField} */ (
    NUMBER_FIELDS.find((each) => each.name === name)
  );
  return (
    <NumberSetting
      field={field}
      value={valueOf(app.settings.value, key)}
      recommended={recommended(field, app.connection.phase.value.server?.manifest.generation)}
      read={(text) => readNumber(field, text)}
      onChange={(value) => app.change({ [key]: value ?? DEFAULTS[key] })}
    />
  );
}

function Texts() {
  const app = useApp();
  const { seed, stop, logit_bias: bias } = app.settings.value;
  return (
    <>
      <CheckedField
        id="seed"
        label={t('Seed')}
        hint={t('The same seed and settings give the same reply. Empty: a new one each time.')}
        text={seed ?? ''}
        read={readSeed}
        onChange={(value) => app.change({ seed: value })}
        numeric
      />
      <CheckedField
        id="stop"
        label={t('Stop texts')}
        hint={t('One a line; a reply ends before it. \\n is a line break.')}
        text={writeStops(stop)}
        read={readStops}
        onChange={(value) => app.change({ stop: value })}
        lines
      />
      <CheckedField
        id="bias"
        label={t('Logit bias')}
        hint={t('TOKEN_ID=NUMBER, one a line: 42=-5 makes token 42 rarer.')}
        text={writeBias(bias ?? {})}
        read={readBias}
        onChange={(value) => app.change({ logit_bias: Object.keys(value).length ? value : null })}
        lines
      />
    </>
  );
}

function Keeping() {
  const app = useApp();
  return (
    <>
      <Choice
        name="server_cache"
        label={t('Keep on the server')}
        options={[['exact', t('On')], ['int8', t('Small')], ['off', t('Off')]]}
        value={app.settings.value.server_cache}
        onChange={(value) => app.change({ server_cache: value })}
      />
      <p class="hint">
        {t(
          'Keys and values of a chat stay in the server’s memory for up to an hour after it ended, so that it is not sent again, for this token alone (without one: for this browser). They are the text to whoever has the weights. Small lets it keep them in less memory; replies may then differ a little, and ≈ under them says so.',
        )}
      </p>
    </>
  );
}

/** @param {Settings} settings @param {(keyof Settings)[]} names */
function touched(settings, names) {
  return names.some((name) => JSON.stringify(settings[name]) !== JSON.stringify(DEFAULTS[name]));
}

/** @param {Settings} settings @param {keyof Settings} key @returns {number | null} null: as recommended */
function valueOf(settings, key) {
  const value = settings[key];
  return typeof value === 'number' && value !== DEFAULTS[key] ? value : null;
}
