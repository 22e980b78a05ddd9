import { useMemo } from 'preact/hooks';
import { fadedIn } from '../../state/tint/levels.js';
import { brightnessInWords, fadedInWords, levelsInWords, quoted, whose } from '../../words/tint.js';
import { Export } from './export.jsx';

/** @typedef {import('../../state/tint/tint.js').Tint} Tint */

/** What has faded in the chat, and where that is. @param {{tint: Tint, paint: import('../../view/tint/paint.js').Paint}} props */
export function Dimming({ tint, paint }) {
  const chat = tint.chat.value;
  const faded = useMemo(() => chat && fadedIn(chat), [chat]);
  if (!chat || !faded) return null;
  return (
    <details class="faded">
      <summary>{fadedInWords(faded.shares)}</summary>
      <div class="tint-body">
        <ol class="places">
          {faded.dimmest.map(({ from, to, node, bright, ...place }) => (
            <li key={`${node} ${from}`}>
              <button type="button" disabled={node === null} onClick={() => void paint.reveal({ node, at: from, length: to - from })}>
                <span class="number">{brightnessInWords(bright)}</span> <span class="whose">{whose(place)}</span>{' '}
                <span dir="auto">{quoted(place)}</span>
              </button>
            </li>
          ))}
        </ol>
        <p class="hint">
          {levelsInWords(faded.shares)}
        </p>
        <Export tint={tint} />
      </div>
    </details>
  );
}
