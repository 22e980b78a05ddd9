import { percent } from '../../words/attention.js';
import { nameOf } from '../../words/attention.js';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../state/tint/tint.js').Tint} Tint */

const MOST_BARS = 160;
const NAMED = 3;
const HEIGHT = 24;

/**
 * Where along the latest reply attention goes far back: to what stands before its own question.
 * @param {{tint: Tint}} props
 */
export function Strip({ tint }) {
  const [chat, far] = [tint.chat.value, tint.far.value];
  if (!chat || !far || chat.turnStart < 2) return null;
  const bars = barsOf(far.shares);
  const named = farthest(far.shares).map((token) => {
    const piece = chat.pieces.findIndex(({ stop }) => stop > far.first + token);
    return { piece, share: far.shares[token] };
  }).filter(({ piece }) => piece >= 0);
  return (
    <figure class="strip">
      <figcaption>{t('Far back, along the latest reply')}</figcaption>
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map((share, i) => (
          <rect key={i} x={i} y={HEIGHT * (1 - share)} width=".9" height={HEIGHT * share} />
        ))}
      </svg>
      <div class="row">
        {named.map(({ piece, share }) => (
          <button key={piece} type="button" class="chip" onClick={() => void tint.choose(piece)}>
            {`${nameOf(chat.textOf(piece))} ${percent(share)}`}
          </button>
        ))}
      </div>
    </figure>
  );
}

/** The largest share of each bar. @param {Float32Array} shares */
function barsOf(shares) {
  const each = Math.ceil(shares.length / MOST_BARS);
  return Array.from({ length: Math.ceil(shares.length / each) }, (_, i) =>
    Math.max(...shares.subarray(i * each, (i + 1) * each)));
}

/** Numbers of the tokens that look farthest, in order. @param {Float32Array} shares */
function farthest(shares) {
  const order = [...shares.keys()].sort((one, other) => shares[other] - shares[one]);
  return order.slice(0, NAMED).sort((one, other) => one - other);
}
