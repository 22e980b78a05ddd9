import { useEffect } from 'preact/hooks';
import { useComputed, useSignalEffect } from '@preact/signals';
import { percent, restInWords } from '../../words/attention.js';
import { sentence } from '../../words/explain.js';
import { costInWords, lookedCaption, lookedInWords, quoted, whose } from '../../words/tint.js';
import { canPaint } from '../../view/tint/paint.js';
import { style } from '../../view/tint/style.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Dimming } from './dimming.jsx';
import { Export } from './export.jsx';
import { usePainting } from './painting.js';
import { Strip } from './strip.jsx';

/** @typedef {import('../../state/tint/tint.js').Tint} Tint */
/** @typedef {import('../../view/tint/paint.js').Paint} Paint */

/** What stands above the message field while the conversation is tinted. */
export default function Panel() {
  const app = useApp();
  const tint = /** @type {Tint} */ (app.tint.value);
  const paint = usePainting(app, tint);
  useEffect(style, []);
  const chat = tint.chat.value;
  const looked = tint.looked.value;
  const spoken = useComputed(() => {
    const [of, token] = [tint.chat.value, tint.looked.value];
    return of && token ? lookedInWords(of, token) : '';
  });
  useSignalEffect(() => revealed(paint, tint));
  return (
    <section class="tint" aria-label={t('What replies looked at')}>
      <Head tint={tint} />
      {tint.problem.value && <p class="problem" role="alert">{sentence(tint.problem.value)}</p>}
      {!canPaint() && <p class="hint">{t('This browser cannot colour parts of a text; the places are named here.')}</p>}
      {chat && looked ? <Looked tint={tint} paint={paint} /> : <Dimming tint={tint} paint={paint} />}
      <p class="unseen" aria-live="polite">{spoken}</p>
    </section>
  );
}

/** The chosen token comes into view, as with the buttons. @param {Paint} paint @param {Tint} tint */
function revealed(paint, tint) {
  const [chat, looked] = [tint.chat.value, tint.looked.value];
  if (chat && looked?.asking) paint.bringNear(chat.pieces[looked.piece]);
}

/** Which token it is. @param {{tint: Tint}} props */
function Head({ tint }) {
  const [chat, looked] = [tint.chat.value, tint.looked.value];
  const none = !chat || chat.next(0, 1) < 0;
  return (
    <div class="tint-head">
      <IconButton icon="back" label={t('Token before')} disabled={none} onClick={() => void tint.move(-1)} />
      <p>{chat && looked ? lookedCaption(chat, looked) : hintOf(none)}</p>
      <IconButton icon="next" label={t('Next token')} disabled={none} onClick={() => void tint.move(1)} />
      {looked && <IconButton icon="close" label={t('Choose no token')} onClick={() => tint.forget()} />}
    </div>
  );
}

/** @param {boolean} none */
function hintOf(none) {
  return none ? t('There is no reply to look at yet.') : t('Tap a word of a reply to see what it looked at.');
}

/** @param {{tint: Tint, paint: Paint}} props */
function Looked({ tint, paint }) {
  const looked = /** @type {import('../../state/tint/tint.js').Looked} */ (tint.looked.value);
  if (looked.asking) return <p class="hint">{t('Asking…')}</p>;
  return (
    <div class="tint-body">
      {looked.shares ? <Places tint={tint} paint={paint} /> : <NotKept tint={tint} />}
      <Strip tint={tint} />
      {looked.shares && <Further tint={tint} />}
    </div>
  );
}

/** The sentences that were looked at most; each leads there. @param {{tint: Tint, paint: Paint}} props */
function Places({ tint, paint }) {
  const { places, shares } = /** @type {import('../../state/tint/tint.js').Looked} */ (tint.looked.value);
  return (
    <>
      <ol class="places">
        {places.map((place) => {
          const part = { node: place.node, at: place.from, length: place.to - place.from };
          return (
            <li key={`${place.node} ${place.from}`}>
              <button type="button" disabled={place.node === null} onClick={() => void paint.reveal(part)}>
                <span class="share" aria-hidden="true" style={{ width: `${100 * place.share}%` }} />
                <span class="number">{percent(place.share)}</span> <span class="whose">{whose(place)}</span>{' '}
                <span dir="auto">{quoted(place)}</span>
                {!paint.shows(part) && <span class="hint"> {t('not shown as text')}</span>}
              </button>
            </li>
          );
        })}
      </ol>
      {shares && <p class="hint">{restInWords(shares)}</p>}
    </>
  );
}

/** @param {{tint: Tint}} props */
function NotKept({ tint }) {
  const app = useApp();
  const noised = Boolean(app.library.chat.value.noise);
  return (
    <>
      <p class="hint">
        {t(
          'Rows are kept for the latest reply alone, if it was made with “Show what each token looked at”, until the page is loaded again.',
        )}
      </p>
      {noised && <p class="hint">{t('A chat with noise fetches none: what it sent would be sent once more.')}</p>}
      {!noised && <Fetch tint={tint} />}
    </>
  );
}

/** Asks for all heads, and says before what that costs. @param {{tint: Tint}} props */
function Fetch({ tint }) {
  const app = useApp();
  const layers = app.connection.phase.value.server?.manifest.layers ?? 0;
  const looked = tint.looked.value;
  const waits = tint.fetching.value || app.replies.running.value !== null;
  return (
    <div class="row">
      <button type="button" class="button" disabled={waits} onClick={() => void tint.fetchHeads()}>
        {tint.fetching.value ? t('Fetching…') : t('Fetch every head of this token')}
      </button>
      <p class="hint">{t('In a session of its own: {cost}.', { cost: costInWords(looked?.cost ?? null, layers) })}</p>
    </div>
  );
}

/** @param {{tint: Tint}} props */
function Further({ tint }) {
  const app = useApp();
  const noised = Boolean(app.library.chat.value.noise);
  const alone = tint.looked.value?.alone;
  return (
    <div class="row">
      {tint.heads.value && (
        <button type="button" class="button" onClick={() => (app.sheet.value = 'heads')}>
          {t('Layers and heads')}
        </button>
      )}
      {!tint.heads.value && !noised && <Fetch tint={tint} />}
      {alone && (
        <button type="button" class="button" onClick={() => tint.showAlone(null)}>
          {t('All heads again')}
        </button>
      )}
      <Export tint={tint} />
    </div>
  );
}
