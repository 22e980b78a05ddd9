import { useDraft } from './draft.js';
import { IconButton } from './icon.jsx';
import { t } from '../../words/languages/words.js';

/**
 * One number: typed, drawn where a slider helps, and reset to what the model recommends.
 * @param {{field: import('../../words/sampling.js').NumberField, value: number | null, recommended: number,
 *   read: (text: string) => import('../../words/sampling.js').Read<number | null>,
 *   onChange: (value: number | null) => void}} props
 */
export function NumberSetting({ field, value, recommended, read, onChange }) {
  const shown = value ?? recommended;
  const { value: text, problem, typed, left } = useDraft(String(shown), read, onChange);
  const reset = () => {
    left(true);
    onChange(null);
  };
  const id = `sampling-${field.name}`;
  return (
    <div class="field">
      <div class="with-reset">
        <label for={id}>{field.label}</label>
        {(value !== null || problem) && (
          <IconButton icon="undo" label={t('Reset {name} to {value}', { name: field.label, value: recommended })} onClick={reset} />
        )}
        <input
          id={id}
          class="text-field"
          type="text"
          inputMode={field.whole || field.low >= 0 ? 'decimal' : 'text'}
          autocomplete="off"
          aria-invalid={problem ? 'true' : undefined}
          aria-describedby={`${id}-hint`}
          value={text}
          onInput={(event) => typed(event.currentTarget.value)}
          onBlur={() => left()}
        />
      </div>
      {field.slider && (
        <input
          type="range"
          aria-label={t('{name}, slider', { name: field.label })}
          min={field.slider.low}
          max={field.slider.high}
          step={field.slider.step}
          value={shown}
          onInput={(event) => {
            left(true);
            onChange(Number(event.currentTarget.value));
          }}
        />
      )}
      <p class={problem ? 'problem' : 'hint'} id={`${id}-hint`}>
        {problem || field.hint}
      </p>
    </div>
  );
}
