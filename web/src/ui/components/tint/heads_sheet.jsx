import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { nameOf, percent } from '../../words/attention.js';
import { headRow } from '../../state/tint/tint.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Sheet } from '../sheet.jsx';

/** @typedef {import('../../../engine/messages.js').Heads} Heads */
/** @typedef {import('../../state/tint/tinted_chat.js').TintedChat} TintedChat */

// Cells that are drawn at once; of a larger model some layers at a time.
const MOST_CELLS = 320;
const BINS = 32;
const CELL_HEIGHT = 12;

/** What each head of each layer looked at to choose one token, as small multiples. */
export default function HeadsSheet() {
  const app = useApp();
  const tint = app.tint.value;
  const close = () => (app.sheet.value = null);
  const [chat, heads] = [tint?.chat.value, tint?.heads.value];
  const choose = (/** @type {number} */ layer, /** @type {number} */ head) => {
    tint?.showAlone({ layer, head });
    close();
  };
  return (
    <Sheet title={t('Layers and heads')} onClose={close}>
      {chat && heads ? <Grid chat={chat} heads={heads} choose={choose} /> : <p>{t('No token is chosen any more.')}</p>}
    </Sheet>
  );
}

/** @typedef {{chat: TintedChat, heads: Heads & {piece: number}, choose: (layer: number, head: number) => void}} Props */

/** @param {Props} props */
function Grid({ chat, heads, choose }) {
  const each = Math.max(1, Math.floor(MOST_CELLS / heads.heads));
  const [from, setFrom] = useState(0);
  const layers = Array.from({ length: Math.min(each, heads.layers - from) }, (_, i) => from + i);
  return (
    <div class="heads">
      <p class="hint">
        {t(
          'What each head looked at to choose {token}, from the beginning of the chat (left) to that token (right), without the first position. Each is drawn by its own largest weight. One of them can be seen alone.',
          { token: nameOf(chat.textOf(heads.piece)) },
        )}
      </p>
      {heads.layers > each && <Pages layers={heads.layers} each={each} from={from} go={setFrom} />}
      <div onKeyDown={moved}>
        {layers.map((layer, i) => (
          <div key={layer} class="heads-row" role="group" aria-label={t('Layer {n}', { n: layer + 1 })}>
            <span class="hint" aria-hidden="true">{layer + 1}</span>
            {Array.from({ length: heads.heads }, (_, head) => (
              <Cell key={head} chat={chat} heads={heads} layer={layer} head={head} first={i + head === 0} choose={choose} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** @param {{layers: number, each: number, from: number, go: (from: number) => void}} props */
function Pages({ layers, each, from, go }) {
  const starts = Array.from({ length: Math.ceil(layers / each) }, (_, i) => i * each);
  return (
    <label class="field">
      {t('Layers')}
      <select value={from} onChange={(event) => go(Number(event.currentTarget.value))}>
        {starts.map((start) => (
          <option key={start} value={start}>
            {t('{from} to {to}', { from: start + 1, to: Math.min(start + each, layers) })}
          </option>
        ))}
      </select>
    </label>
  );
}

/** @param {Props & {layer: number, head: number, first: boolean}} props */
function Cell({ chat, heads, layer, head, first, choose }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const row = headRow(heads, { layer, head });
  useLayoutEffect(() => drawn(/** @type {HTMLCanvasElement} */ (canvas.current), binsOf(row)), [heads, layer, head]);
  const { position, weight } = largest(row);
  const piece = chat.pieces.findIndex(({ start, stop }) => position >= start && position < stop);
  const words = piece < 0 ? t('the chat template') : nameOf(chat.textOf(piece));
  return (
    <button
      type="button"
      class="head-cell"
      tabIndex={first ? 0 : -1}
      aria-label={t('Layer {layer}, head {head}: most on {words}, {share}', {
        layer: layer + 1, head: head + 1, words, share: percent(weight),
      })}
      onClick={() => choose(layer, head)}
    >
      <canvas ref={canvas} width={BINS} height={CELL_HEIGHT} />
    </button>
  );
}

/** The largest weights of equal parts of a row, without its first. @param {Float32Array} row */
function binsOf(row) {
  const bins = new Float32Array(BINS);
  for (let i = 1; i < row.length; i++) {
    const bin = Math.min(BINS - 1, Math.floor((BINS * i) / row.length));
    bins[bin] = Math.max(bins[bin], row[i]);
  }
  return bins;
}

/** @param {Float32Array} row */
function largest(row) {
  let position = Math.min(1, row.length - 1);
  for (let i = position; i < row.length; i++) if (row[i] > row[position]) position = i;
  return { position, weight: row[position] ?? 0 };
}

/** @param {HTMLCanvasElement} canvas @param {Float32Array} bins */
function drawn(canvas, bins) {
  const brush = canvas.getContext('2d');
  if (!brush) return;
  const most = Math.max(...bins) || 1;
  brush.clearRect(0, 0, BINS, CELL_HEIGHT);
  brush.fillStyle = getComputedStyle(canvas).color;
  bins.forEach((bin, i) => {
    const height = Math.max(1, Math.round((CELL_HEIGHT * bin) / most));
    brush.fillRect(i, CELL_HEIGHT - height, 1, height);
  });
}

/** The arrow keys go from cell to cell. @param {KeyboardEvent} event */
function moved(event) {
  const row = /** @type {HTMLElement} */ (event.target).closest('.heads-row');
  const cells = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('.head-cell')];
  const across = row?.querySelectorAll('.head-cell').length ?? 1;
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
  const next = step && cells[cells.indexOf(/** @type {Element} */ (event.target)) + step];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
