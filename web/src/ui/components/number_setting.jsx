import { useState } from 'preact/hooks';
import { IconButton } from './icon.jsx';

/**
 * One number: typed, drawn where a slider helps, and reset to what the model recommends.
 * @param {{field: import('../words/sampling.js').NumberField, value: number | null, recommended: number,
 *   read: (text: string) => import('../words/sampling.js').Read<number | null>,
 *   onChange: (value: number | null) => void}} props
 */
export function NumberSetting({ field, value, recommended, read, onChange }) {
  const [problem, setProblem] = useState('');
  const shown = value ?? recommended;
  const typed = (/** @type {Event & {currentTarget: HTMLInputElement}} */ { currentTarget }) => {
    const result = read(currentTarget.value);
    setProblem('problem' in result ? result.problem : '');
    if ('value' in result) onChange(result.value);
  };
  const reset = () => {
    setProblem('');
    onChange(null);
  };
  const id = `sampling-${field.name}`;
  return (
    <div class="field">
      <div class="with-reset">
        <label for={id}>{field.label}</label>
        {(value !== null || problem) && (
          <IconButton icon="undo" label={`Reset ${field.label} to ${recommended}`} onClick={reset} />
        )}
        <input
          id={id}
          class="text-field"
          type="text"
          inputMode={field.whole || field.low >= 0 ? 'decimal' : 'text'}
          autocomplete="off"
          aria-invalid={problem ? 'true' : undefined}
          aria-describedby={`${id}-hint`}
          value={problem ? undefined : String(shown)}
          onChange={typed}
        />
      </div>
      {field.slider && (
        <input
          type="range"
          aria-label={`${field.label}, slider`}
          min={field.slider.low}
          max={field.slider.high}
          step={field.slider.step}
          value={shown}
          onInput={typed}
        />
      )}
      <p class={problem ? 'problem' : 'hint'} id={`${id}-hint`}>
        {problem || field.hint}
      </p>
    </div>
  );
}
