import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { AttendedReply } from '../../state/attended_reply.js';
import { lookedAt, nameOf, percent, restInWords } from '../../words/attention.js';
import { counted } from '../../words/format.js';
import { BEGINNINGS, most } from '../../view/shares.js';
import { TokenText } from '../../view/token_text.js';
import { t, tn } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Sheet } from '../sheet.jsx';

const LISTED = 5;
const SPOKEN = 3;
const MOST_SPANS = 4000;
// A reply that is being made is looked at again that often.
const AGAIN_MS = 250;

/** The attention of the tokens of the latest reply. */
export default function AttentionSheet() {
  const app = useApp();
  const chat = app.library.chat.value.id;
  const reply = useMemo(() => new AttendedReply(app.connection.engine, chat), []);
  const growing = useComputed(() => app.replies.running.value?.chat === chat);
  useSignalEffect(() => {
    void reply.refresh();
    if (!growing.value) return undefined;
    const timer = setInterval(() => void reply.refresh(), AGAIN_MS);
    return () => clearInterval(timer);
  });
  const close = () => {
    app.sheet.value = null;
    // Its button has nothing to open any more.
    if (reply.gone.value && !growing.value) app.attention.kept.value = null;
  };
  return (
    <Sheet title={t('What it looked at')} onClose={close}>
      {reply.gone.value ? (
        <p>{t('It is not there any more: it is kept for the latest reply, until the page is loaded again.')}</p>
      ) : (
        reply.range.value && <Parts reply={reply} growing={growing.value} />
      )}
    </Sheet>
  );
}

/** @param {{reply: AttendedReply, growing: boolean}} props */
function Parts({ reply, growing }) {
  const spoken = useSignal('');
  const choose = async (/** @type {number | null} */ token) => {
    await reply.choose(token);
    spoken.value = inWords(reply);
  };
  const { first, end, dropped } = rangeOf(reply);
  const redacted = useApp().library.chat.value.redaction?.on;
  if (end <= first) {
    return <p>{growing ? t('Waiting for the first token…') : t('This reply came without attention.')}</p>;
  }
  return (
    <div class="attended">
      <Kind reply={reply} choose={choose} />
      <Tokens reply={reply} choose={choose} />
      <Slider reply={reply} choose={choose} />
      <Legend />
      <Most reply={reply} />
      <p class="hint">
        {t(
          'The softmax weights of the step that chose a token, over all tokens before it: the mean of all heads of all layers, of which the 76 largest are sent. Not saved, and gone with the next reply.',
        )}
        {dropped &&
          ` ${t('Of the first {tokens} it is not kept any more: 16 MB are.', { tokens: counted(first, 'token') })}`}
        {redacted && ` ${t('What it had is shown: surrogates stand in place of your values.')}`}
      </p>
      <p class="unseen" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

/** @typedef {{reply: AttendedReply, choose: (token: number | null) => Promise<void>}} Choosing */

/** The average, or one token of the reply. @param {Choosing} props */
function Kind({ reply, choose }) {
  const one = reply.choice.value !== null;
  return (
    <div class="choice" role="radiogroup" aria-label={t('Whose attention')}>
      <label>
        <input type="radio" name="attended" checked={!one} onChange={() => void choose(null)} />
        <span>{t('Whole reply')}</span>
      </label>
      <label>
        <input type="radio" name="attended" checked={one} onChange={() => void choose(reply.newest())} />
        <span>{t('One token')}</span>
      </label>
    </div>
  );
}

/** Which token it is, for fingers and readers. @param {Choosing} props */
function Slider({ reply, choose }) {
  const { first, end } = rangeOf(reply);
  const choice = reply.choice.value;
  if (choice === null) return <p class="hint">{t('Choose a token of the reply to see what it looked at.')}</p>;
  return (
    <div class="row one-line">
      <IconButton
        icon="back"
        label={t('Token before')}
        disabled={choice <= first}
        onClick={() => void choose(choice - 1)}
      />
      <input
        type="range"
        aria-label={t('Token of the reply')}
        aria-valuetext={`${tokenName(reply, choice)}, ${t('{at} of {all}', { at: choice + 1, all: end })}`}
        min={first}
        max={end - 1}
        value={choice}
        onInput={(event) => void choose(event.currentTarget.valueAsNumber)}
      />
      <IconButton
        icon="next"
        label={t('Next token')}
        disabled={choice >= end - 1}
        onClick={() => void choose(choice + 1)}
      />
    </div>
  );
}

/** Prompt and reply; a token of the reply is chosen with a tap, or with the arrow keys. @param {Choosing} props */
function Tokens({ reply, choose }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const text = useRef(/** @type {TokenText | null} */ (null));
  const hidden = useMemo(() => Math.max(0, reply.spans.length - MOST_SPANS), []);
  const chosen = reply.row.value?.of ?? null;
  useLayoutEffect(() => {
    text.current ??= new TokenText(/** @type {HTMLDivElement} */ (place.current));
    text.current.show(reply.spans, hidden);
  }, [reply.range.value]);
  useLayoutEffect(() => {
    const row = reply.row.value;
    if (!row) return;
    const span = row.of === null ? null : reply.spanOf(row.of);
    text.current?.colour(row, span);
    if (span !== null) text.current?.reveal(span);
  }, [reply.row.value]);
  const pointed = (/** @type {MouseEvent} */ event) => {
    const span = text.current?.spanAt(event.target) ?? null;
    const token = span === null ? null : reply.tokenOf(span);
    if (token !== null) void choose(token);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const { first, end } = rangeOf(reply);
    const next = { ArrowRight: (chosen ?? first - 1) + 1, ArrowLeft: (chosen ?? end) - 1, Home: first, End: end - 1 }[
      event.key
    ];
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void choose(Math.max(first, Math.min(end - 1, next)));
  };
  return (
    <>
      {hidden > 0 && <p class="hint">{tn(hidden, '{n} earlier token not shown.', '{n} earlier tokens not shown.')}</p>}
      <div
        class="tokens"
        ref={place}
        dir="auto"
        role="group"
        aria-label={t('Prompt and reply. The arrow keys choose a token of the reply.')}
        tabIndex={0}
        onClick={pointed}
        onKeyDown={pressed}
      />
    </>
  );
}

function Legend() {
  const words = [`<${BEGINNINGS[0] * 100}`, ...BEGINNINGS.map((begins) => `${begins * 100}`)];
  return (
    <p class="legend">
      <span class="unseen">{t('Colours, from the weakest to the strongest, begin at')}  </span>
      {words.map((word, level) => (
        <span key={level} class="swatch" data-level={level}>
          {word}
        </span>
      ))}
      <span class="hint">{t('% of the largest')}</span>
    </p>
  );
}

/** The tokens that were looked at most. @param {{reply: AttendedReply}} props */
function Most({ reply }) {
  const row = reply.row.value;
  if (!row) return null;
  const listed = most(row, LISTED);
  return (
    <div>
      <table class="shares">
        <caption>{headOf(reply, row.of)}</caption>
        <tbody>
          {listed.map((span) => (
            <tr key={span}>
              <th scope="row">{nameOf(reply.spans[span].text)}</th>
              <td class="number">{percent(row.spans[span])}</td>
              <td aria-hidden="true">
                <div class="share" style={{ width: `${(100 * row.spans[span]) / row.strongest}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        {restInWords(row)}
      </p>
    </div>
  );
}

/** @param {AttendedReply} reply known by the time that anything is shown of it */
function rangeOf(reply) {
  return /** @type {import('../../state/attended_reply.js').Range} */ (reply.range.value);
}

/** @param {AttendedReply} reply @param {number} token */
function tokenName(reply, token) {
  const span = reply.spanOf(token);
  return span === null ? '' : nameOf(reply.spans[span].text);
}

/** @param {AttendedReply} reply @param {number | null} token */
function headOf(reply, token) {
  return token === null ? t('On average, the reply looked at') : lookedAt(tokenName(reply, token));
}

/** @param {AttendedReply} reply @returns {string} for a screen reader */
function inWords(reply) {
  const row = reply.row.value;
  if (!row) return '';
  const named = most(row, SPOKEN).map((span) => `${nameOf(reply.spans[span].text)} ${percent(row.spans[span])}`);
  return `${headOf(reply, row.of)} ${named.join(', ')}`;
}
