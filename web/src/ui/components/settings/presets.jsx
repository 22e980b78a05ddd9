import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { describeError } from '../../../common/errors.js';
import { OwnPresets } from '../../../presets/own.js';
import { presets } from '../../../presets/presets.js';
import { pageStorage } from '../../view/page_storage.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {{text: string, disabled: boolean, onChoice: (text: string) => void}} Props */
/** @typedef {'none' | 'save' | 'rename'} Asking */

/** System prompts by name: those that come along and a person's own. @param {Props} props */
export function Presets({ text, disabled, onChoice }) {
  const app = useApp();
  const own = useMemo(() => new OwnPresets(pageStorage()), []);
  const kept = useSignal(own.all());
  const asking = useSignal(/** @type {Asking} */ ('none'));
  const problem = useSignal('');
  const all = presets(kept.value);
  const current = all.find((preset) => preset.text === text) ?? null;
  const change = (/** @type {() => unknown} */ step) => {
    try {
      step();
      problem.value = '';
      asking.value = 'none';
    } catch (error) {
      problem.value = sentence(describeError(error).message);
    }
    kept.value = own.all();
  };
  const named = (/** @type {string} */ name) =>
    change(() => (asking.value === 'rename' && current ? own.rename(current.name, name) : own.save(name, text)));
  const removed = () => {
    if (!current) return;
    change(() => own.remove(current.name));
    const back = () => change(() => own.save(current.name, current.text));
    app.toasts.show(t('Deleted the preset {name}', { name: current.name }), { label: t('Undo'), run: back });
  };
  return (
    <>
      <Choosing all={all} current={current} text={text} disabled={disabled} onChoice={onChoice} />
      {asking.value === 'none' ? (
        <div class="row">
          {text.trim() && !current && (
            <button type="button" class="button" onClick={() => (asking.value = 'save')}>
              {t('Save as a preset')}
            </button>
          )}
          {current?.own && (
            <>
              <button type="button" class="button" onClick={() => (asking.value = 'rename')}>
                {t('Rename the preset')}
              </button>
              <button type="button" class="button danger" onClick={removed}>
                {t('Delete the preset')}
              </button>
            </>
          )}
        </div>
      ) : (
        <Naming
          name={asking.value === 'rename' ? (current?.name ?? '') : ''}
          onDone={named}
          onCancel={() => {
            problem.value = '';
            asking.value = 'none';
          }}
        />
      )}
      <p class="problem" role="alert">
        {problem}
      </p>
    </>
  );
}

/** @param {Props & {all: import('../../../presets/presets.js').Preset[],
 *   current: import('../../../presets/presets.js').Preset | null}} props */
function Choosing({ all, current, text, disabled, onChoice }) {
  const value = current?.name ?? (text ? '@' : '');
  const chosen = (/** @type {string} */ name) => {
    const preset = all.find((each) => each.name === name);
    if (preset || name === '') onChoice(preset?.text ?? '');
  };
  const groups = /** @type {const} */ ([[t('Your presets'), true], [t('Presets that come along'), false]]);
  return (
    <select
      class="text-field"
      aria-label={t('Preset of the system prompt')}
      value={value}
      disabled={disabled}
      onChange={(event) => chosen(event.currentTarget.value)}
    >
      <option value="">{t('No system prompt')}</option>
      {value === '@' && <option value="@">{t('Your own')}</option>}
      {groups
        .map(([label, own]) => ({ label, listed: all.filter((preset) => preset.own === own) }))
        .filter(({ listed }) => listed.length)
        .map(({ label, listed }) => (
          <optgroup key={label} label={label}>
            {listed.map(({ name }) => (
              <option key={name} value={name}>
                {t('Preset: {name}', { name })}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  );
}

/** @param {{name: string, onDone: (name: string) => void, onCancel: () => void}} props */
function Naming({ name, onDone, onCancel }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.select(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    onDone(field.current?.value ?? '');
  };
  return (
    <form class="naming" onSubmit={submit}>
      <input
        ref={field}
        class="text-field"
        aria-label={t('Name of the preset')}
        autocomplete="off"
        autocapitalize="off"
        maxLength={60}
        defaultValue={name}
      />
      <div class="row">
        <button type="submit" class="button primary">
          {t('Save')}
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  );
}
