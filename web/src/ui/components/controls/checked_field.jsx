import { useDraft } from './draft.js';

/**
 * A text that is taken over when it can be read, and says why where it cannot.
 * @template T
 * @param {{id: string, label: string, hint: string, text: string,
 *   read: (text: string) => import('../../words/sampling.js').Read<T>, onChange: (value: T) => void,
 *   lines?: boolean, numeric?: boolean}} props
 */
export function CheckedField({ id, label, hint, text, read, onChange, lines = false, numeric = false }) {
  const draft = useDraft(text, read, onChange);
  const { problem } = draft;
  const about = {
    id,
    class: 'text-field',
    autocomplete: /** @type {const} */ ('off'),
    spellcheck: false,
    'aria-invalid': problem ? /** @type {const} */ ('true') : undefined,
    'aria-describedby': `${id}-hint`,
    value: draft.value,
    onInput: (/** @type {Event & {currentTarget: HTMLInputElement | HTMLTextAreaElement}} */ event) =>
      draft.typed(event.currentTarget.value),
    onBlur: () => draft.left(),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines ? (
        <textarea rows={2} {...about} />
      ) : (
        <input inputMode={numeric ? 'numeric' : 'text'} {...about} />
      )}
      <p class={problem ? 'problem' : 'hint'} id={`${id}-hint`}>
        {problem || hint}
      </p>
    </div>
  );
}
