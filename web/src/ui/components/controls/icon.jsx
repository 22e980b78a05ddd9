// Outlines on a grid of 24, drawn for this app.
const PATHS = {
  menu: 'M4 7h16M4 12h16M4 17h10',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  done: 'M5 12.5l4.5 4.5L19 7.5',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  again: 'M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4',
  back: 'M15 6l-6 6 6 6',
  next: 'M9 6l6 6-6 6',
  undo: 'M9 8L5 12l4 4M5 12h9a5 5 0 0 1 0 10h-2',
  down: 'M12 5v14M6 13l6 6 6-6',
  up: 'M12 19V5M6 11l6-6 6 6',
  eye:
    'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z' +
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  sliders:
    'M4 7h9M17 7h3M4 17h3M11 17h9' +
    'M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  attention: 'M4 7h5M13 7h7M4 12h10M18 12h2M4 17h3M11 17h5',
  likely: 'M5 20v-5M10 20v-9M15 20V6M20 20v-3',
  tint: 'M12 3.5S6 10 6 14.5a6 6 0 0 0 12 0C18 10 12 3.5 12 3.5zM9.5 15a2.5 2.5 0 0 0 2.5 2.5',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  folder: 'M3.5 7.5V18h17V8.5h-8.5l-2-2.5h-5z',
  speak: 'M4 10v4h3l5 4V6l-5 4zM15.5 9a4 4 0 0 1 0 6M18 6.5a7.5 7.5 0 0 1 0 11',
  share: 'M12 14V4M8 7.5L12 4l4 3.5M6 11v8.5h12V11',
  attach: 'M8 12.5l6-6a3 3 0 0 1 4.2 4.2l-7.7 7.7a4.5 4.5 0 0 1-6.4-6.4L11 5.2',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20',
  pin: 'M9 4h6l-1 6 3 4H7l3-4zM12 14v6',
  mark: 'M7 5H4v14h3M17 5h3v14h-3M8.5 12h.01M12 12h.01M15.5 12h.01',
};

/** @typedef {keyof typeof PATHS} IconName */

/** @param {{name: IconName, class?: string}} props */
export function Icon({ name, class: extra = '' }) {
  return (
    <svg class={`icon ${extra} ${name === 'more' ? 'dots' : ''}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/**
 * A round button that shows an icon and says its label.
 * @param {{icon: IconName, label: string, onClick: (event: MouseEvent) => void, class?: string,
 *   disabled?: boolean, expanded?: boolean, pressed?: boolean}} props
 */
export function IconButton({ icon, label, onClick, class: extra = '', disabled = false, expanded, pressed }) {
  return (
    <button
      type="button"
      class={`icon-button ${extra}`}
      aria-label={label}
      title={label}
      aria-expanded={expanded}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
