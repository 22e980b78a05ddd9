import { DEFAULTS } from '../../settings/settings.js';
import {
  NUMBER_FIELDS, readBias, readNumber, readSeed, readStops, recommended, writeBias, writeStops,
} from '../words/sampling.js';
import { useApp } from './context.jsx';
import { CheckedField } from './checked_field.jsx';
import { NumberSetting } from './number_setting.jsx';

/** @typedef {import('../../settings/types').Settings} Settings */

const NAMES = /** @type {(keyof Settings)[]} */ (
  [...NUMBER_FIELDS.map((field) => field.name), 'seed', 'stop', 'logit_bias']
);

/** How the next token is chosen. What is not set follows the model's recommendation. */
export function SamplingSection() {
  const app = useApp();
  const settings = app.settings.value;
  const generation = app.connection.phase.value.server?.manifest.generation;
  const untouched = NAMES.every((name) => JSON.stringify(settings[name]) === JSON.stringify(DEFAULTS[name]));
  const reset = () => app.change(Object.fromEntries(NAMES.map((name) => [name, DEFAULTS[name]])));
  return (
    <section class="section" aria-labelledby="sampling">
      <div class="section-head">
        <h3 id="sampling">Sampling</h3>
        <button type="button" class="button quiet" disabled={untouched} onClick={reset}>
          Reset all
        </button>
      </div>
      {NUMBER_FIELDS.map((field) => (
        <NumberSetting
          key={field.name}
          field={field}
          value={valueOf(settings, field.name)}
          recommended={recommended(field, generation)}
          read={(text) => readNumber(field, text)}
          onChange={(value) => app.change({ [field.name]: value ?? DEFAULTS[/** @type {keyof Settings} */ (field.name)] })}
        />
      ))}
      <Texts />
    </section>
  );
}

function Texts() {
  const app = useApp();
  const { seed, stop, logit_bias: bias } = app.settings.value;
  return (
    <>
      <CheckedField
        id="seed"
        label="Seed"
        hint="The same seed and settings give the same reply. Empty: a new one each time."
        text={seed ?? ''}
        read={readSeed}
        onChange={(value) => app.change({ seed: value })}
        numeric
      />
      <CheckedField
        id="stop"
        label="Stop texts"
        hint="One a line; a reply ends before it. \n is a line break."
        text={writeStops(stop)}
        read={readStops}
        onChange={(value) => app.change({ stop: value })}
        lines
      />
      <CheckedField
        id="bias"
        label="Logit bias"
        hint="TOKEN_ID=NUMBER, one a line: 42=-5 makes token 42 rarer."
        text={writeBias(bias ?? {})}
        read={readBias}
        onChange={(value) => app.change({ logit_bias: Object.keys(value).length ? value : null })}
        lines
      />
    </>
  );
}

/** @param {Settings} settings @param {string} name @returns {number | null} null: as recommended */
function valueOf(settings, name) {
  const key = /** @type {keyof Settings} */ (name);
  const value = settings[key];
  return typeof value === 'number' && value !== DEFAULTS[key] ? value : null;
}
