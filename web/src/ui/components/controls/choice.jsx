/**
 * One of a few, side by side.
 * @template {string} T
 * @param {{name: string, label: string, options: readonly (readonly [T, string])[], value: T,
 *   onChange: (value: T) => void, disabled?: boolean}} props
 */
export function Choice({ name, label, options, value, onChange, disabled = false }) {
  return (
    <div class="field">
      <span class="label" id={`${name}-label`}>
        {label}
      </span>
      <div class="choice" role="radiogroup" aria-labelledby={`${name}-label`}>
        {options.map(([key, words]) => (
          <label key={key}>
            <input
              type="radio"
              name={name}
              checked={key === value}
              disabled={disabled}
              onChange={() => onChange(key)}
            />
            <span>{words}</span>
          </label>
        ))}
      </div>
    </div>
  );
}
