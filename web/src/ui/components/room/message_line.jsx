import { useState } from 'preact/hooks';
import { CodePoints } from '../../../chats/context/code_points.js';
import { unitsLeft } from '../../../chats/context/pruning.js';
import { isGone } from '../../../chats/context/travelling.js';
import { unitsOf } from '../../../chats/context/units.js';
import { counted } from '../../words/format.js';
import { t, tn } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** @typedef {import('../../../chats/types').Kept} Kept */
/** @typedef {{place: string | null, message: Kept, tokens?: number}} Props place null: the system prompt */

const NAMES = { system: () => t('System prompt'), user: () => t('You'), assistant: () => t('Reply') };
const KINDS = { sentence: () => '', code: () => `${t('Code')}: `, table: () => `${t('Table')}: `, result: () => '' };
const SHORT = 80;
const MOST_PARTS = 200;

/** One message: how much it has, whether it is pinned, and its parts. @param {Props} props */
export function MessageLine({ place, message, tokens }) {
  const app = useApp();
  const { role, content, dropped, pinned = false } = message;
  const gone = isGone(message) && content !== '';
  const name = `${NAMES[role]()}: ${oneLine(content)}`;
  const about = [
    ...(gone ? [t('left out')] : tokens === undefined ? [] : [counted(tokens, 'token')]),
    ...(dropped && !gone ? [t('in part')] : []),
    ...(pinned ? [t('pinned')] : []),
  ];
  const whole = /** @type {[number, number]} */ ([0, new CodePoints(content).length]);
  return (
    <li>
      <div class="line">
        <div class={gone ? 'about gone' : 'about'}>
          <p dir="auto">{name}</p>
          <p class="hint">{about.join(' · ')}</p>
        </div>
        <IconButton
          class={pinned ? 'pinned' : ''}
          icon="pin"
          label={pinned ? t('Unpin {name}', { name }) : t('Pin {name}', { name })}
          disabled={app.fixed.value}
          onClick={() => app.room.pin(place, !pinned)}
        />
        <button
          type="button"
          class="button"
          aria-label={dropped ? t('Bring back {name}', { name }) : t('Leave out {name}', { name })}
          disabled={app.fixed.value || !content}
          onClick={() => (dropped ? app.room.restore(place) : app.room.drop(place, [whole]))}
        >
          {dropped ? t('Bring back') : t('Leave out')}
        </button>
      </div>
      <Parts place={place} message={message} />
    </li>
  );
}

/** @param {Props} props */
function Parts({ place, message }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('Parts')}</summary>
      {open && <PartList place={place} message={message} />}
    </details>
  );
}

/** @param {Props} props */
function PartList({ place, message }) {
  const app = useApp();
  const units = unitsOf(message);
  const left = new Set(unitsLeft(message).map(({ start }) => start));
  const points = new CodePoints(message.content);
  return (
    <div class="units">
      {units.slice(0, MOST_PARTS).map(({ start, stop, kind }) => (
        <label key={start}>
          <input
            type="checkbox"
            checked={left.has(start)}
            disabled={app.fixed.value}
            onChange={() =>
              left.has(start) ? app.room.drop(place, [[start, stop]]) : app.room.restore(place, [start, stop])
            }
          />
          <span dir="auto">
            {KINDS[kind]()}
            {oneLine(points.slice(start, stop))}
          </span>
        </label>
      ))}
      {units.length > MOST_PARTS && (
        <p class="hint">{tn(units.length - MOST_PARTS, 'And {n} part more.', 'And {n} parts more.')}</p>
      )}
    </div>
  );
}

/** @param {string} text */
function oneLine(text) {
  const line = text.slice(0, 4 * SHORT).split(/\s+/).filter(Boolean).join(' ');
  return [...line].length > SHORT ? `${[...line].slice(0, SHORT).join('')}…` : line;
}
