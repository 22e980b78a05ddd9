import { useRef } from 'preact/hooks';

/**
 * Chooses the part of a sheet that is shown (ARIA Authoring Practices Guide, tabs): the arrow keys, Home and End go
 * through them.
 * @template {string} T
 * @param {{name: string, label: string, tabs: readonly (readonly [T, string])[], value: T,
 *   onChange: (value: T) => void}} props
 */
export function TabList({ name, label, tabs, value, onChange }) {
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const at = tabs.findIndex(([key]) => key === value);
    const next = placeOf(event.key, at, tabs.length);
    if (next === null) return;
    event.preventDefault();
    onChange(tabs[next][0]);
    const button = list.current?.children[next];
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={pressed}>
      {tabs.map(([key, words]) => (
        <button
          key={key}
          type="button"
          role="tab"
          id={`${name}-${key}`}
          aria-selected={key === value}
          aria-controls={`${name}-panel`}
          tabIndex={key === value ? 0 : -1}
          onClick={() => onChange(key)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

/** The part that is shown. @param {{name: string, value: string, children: import('preact').ComponentChildren}} props */
export function TabPanel({ name, value, children }) {
  return (
    <div class="panel" role="tabpanel" id={`${name}-panel`} aria-labelledby={`${name}-${value}`}>
      {children}
    </div>
  );
}

/** @param {string} key @param {number} at @param {number} count @returns {number | null} null: another key */
function placeOf(key, at, count) {
  switch (key) {
    case 'ArrowRight':
      return (at + 1) % count;
    case 'ArrowLeft':
      return (at + count - 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
