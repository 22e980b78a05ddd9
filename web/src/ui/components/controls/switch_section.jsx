/** @typedef {import('preact').ComponentChildren} Children */

/**
 * A part of the settings that is on or off; `notes`: what is to be known of it now, `children`: what it has to set.
 * @param {{id: string, title: string, label: string, hint: string, on: boolean, disabled: boolean,
 *   onChange: (on: boolean) => void, notes?: Children, children?: Children}} props
 */
export function SwitchSection({ id, title, label, hint, on, disabled, onChange, notes, children }) {
  return (
    <section class="section" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <div class="field">
        <label class="switch">
          <input
            type="checkbox"
            checked={on}
            disabled={disabled}
            aria-describedby={`${id}-hint`}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          {label}
        </label>
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
        {notes}
      </div>
      {children}
    </section>
  );
}
