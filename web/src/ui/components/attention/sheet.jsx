import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { Looking } from '../../state/attended_reply.js';
import { nameOf, percent } from '../../words/attention.js';
import { counted } from '../../words/format.js';
import { BEGINNINGS, most } from '../../view/shares.js';
import { TokenText } from '../../view/token_text.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Sheet } from '../sheet.jsx';

const LISTED = 5;
const SPOKEN = 3;
const MOST_SPANS = 4000;
// A reply that is being made is looked at again that often.
const AGAIN_MS = 250;

/** What the tokens of the latest reply looked at. */
export default function AttentionSheet() {
  const app = useApp();
  const chat = app.library.chat.value.id;
  const looking = useMemo(() => new Looking(app.connection.engine, chat), []);
  const growing = useComputed(() => app.replies.running.value?.chat === chat);
  useSignalEffect(() => {
    void looking.refresh();
    if (!growing.value) return undefined;
    const timer = setInterval(() => void looking.refresh(), AGAIN_MS);
    return () => clearInterval(timer);
  });
  const close = () => {
    app.sheet.value = null;
    // Its button has nothing to open any more.
    if (looking.gone.value && !growing.value) app.attention.kept.value = null;
  };
  return (
    <Sheet title="What it looked at" onClose={close}>
      {looking.gone.value ? (
        <p>It is not there any more: it is kept for the latest reply, until the page is loaded again.</p>
      ) : (
        looking.range.value && <Parts looking={looking} growing={growing.value} />
      )}
    </Sheet>
  );
}

/** @param {{looking: Looking, growing: boolean}} props */
function Parts({ looking, growing }) {
  const spoken = useSignal('');
  const choose = async (/** @type {number | null} */ token) => {
    await looking.choose(token);
    spoken.value = inWords(looking);
  };
  const { first, end, dropped } = rangeOf(looking);
  if (end <= first) {
    return <p>{growing ? 'Waiting for the first token…' : 'This reply came without attention.'}</p>;
  }
  return (
    <div class="looked">
      <Kind looking={looking} choose={choose} />
      <Tokens looking={looking} choose={choose} />
      <Slider looking={looking} choose={choose} />
      <Legend />
      <Most looking={looking} />
      <p class="hint">
        The softmax weights of the step that chose a token, over all tokens before it: the mean of all heads of
        all layers. Not saved, and gone with the next reply.
        {dropped && ` Of the first ${counted(first, 'token')} it is not kept any more: 16 MB are.`}
      </p>
      <p class="unseen" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

/** @typedef {{looking: Looking, choose: (token: number | null) => Promise<void>}} Choosing */

/** The average, or one token of the reply. @param {Choosing} props */
function Kind({ looking, choose }) {
  const one = looking.choice.value !== null;
  return (
    <div class="choice" role="radiogroup" aria-label="Whose attention">
      <label>
        <input type="radio" name="looked" checked={!one} onChange={() => void choose(null)} />
        <span>Whole reply</span>
      </label>
      <label>
        <input type="radio" name="looked" checked={one} onChange={() => void choose(looking.newest())} />
        <span>One token</span>
      </label>
    </div>
  );
}

/** Which token it is, for fingers and readers. @param {Choosing} props */
function Slider({ looking, choose }) {
  const { first, end } = rangeOf(looking);
  const choice = looking.choice.value;
  if (choice === null) return <p class="hint">Choose a token of the reply to see what it looked at.</p>;
  return (
    <div class="row one-line">
      <IconButton
        icon="back"
        label="Token before"
        disabled={choice <= first}
        onClick={() => void choose(choice - 1)}
      />
      <input
        type="range"
        aria-label="Token of the reply"
        aria-valuetext={`${tokenName(looking, choice)}, ${choice + 1} of ${end}`}
        min={first}
        max={end - 1}
        value={choice}
        onInput={(event) => void choose(event.currentTarget.valueAsNumber)}
      />
      <IconButton
        icon="next"
        label="Next token"
        disabled={choice >= end - 1}
        onClick={() => void choose(choice + 1)}
      />
    </div>
  );
}

/** Prompt and reply; a token of the reply is chosen with a tap, or with the arrow keys. @param {Choosing} props */
function Tokens({ looking, choose }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const text = useRef(/** @type {TokenText | null} */ (null));
  const hidden = useMemo(() => Math.max(0, looking.spans.length - MOST_SPANS), []);
  const chosen = looking.row.value?.of ?? null;
  useLayoutEffect(() => {
    text.current ??= new TokenText(/** @type {HTMLDivElement} */ (place.current));
    text.current.show(looking.spans, hidden);
  }, [looking.range.value]);
  useLayoutEffect(() => {
    const row = looking.row.value;
    if (!row) return;
    const span = row.of === null ? null : looking.spanOf(row.of);
    text.current?.colour(row, span);
    if (span !== null) text.current?.reveal(span);
  }, [looking.row.value]);
  const pointed = (/** @type {MouseEvent} */ event) => {
    const span = text.current?.spanAt(event.target) ?? null;
    const token = span === null ? null : looking.tokenOf(span);
    if (token !== null) void choose(token);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const { first, end } = rangeOf(looking);
    const next = { ArrowRight: (chosen ?? first - 1) + 1, ArrowLeft: (chosen ?? end) - 1, Home: first, End: end - 1 }[
      event.key
    ];
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void choose(Math.max(first, Math.min(end - 1, next)));
  };
  return (
    <>
      {hidden > 0 && <p class="hint">{counted(hidden, 'earlier token')} not shown.</p>}
      <div
        class="tokens"
        ref={place}
        dir="auto"
        role="group"
        aria-label="Prompt and reply. The arrow keys choose a token of the reply."
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
      <span class="unseen">Colours, from the weakest to the strongest, begin at </span>
      {words.map((word, level) => (
        <span key={level} class="swatch" data-level={level}>
          {word}
        </span>
      ))}
      <span class="hint">% of the largest</span>
    </p>
  );
}

/** The tokens that were looked at most. @param {{looking: Looking}} props */
function Most({ looking }) {
  const row = looking.row.value;
  if (!row) return null;
  const listed = most(row, LISTED);
  return (
    <div>
      <table class="shares">
        <caption>{headOf(looking, row.of)}</caption>
        <tbody>
          {listed.map((span) => (
            <tr key={span}>
              <th scope="row">{nameOf(looking.spans[span].text)}</th>
              <td class="number">{percent(row.spans[span])}</td>
              <td aria-hidden="true">
                <div class="share" style={{ width: `${(100 * row.spans[span]) / row.strongest}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        {percent(row.first)} on the first position, {percent(row.template)} on the chat template.
      </p>
    </div>
  );
}

/** @param {Looking} looking known by the time that anything is shown of it */
function rangeOf(looking) {
  return /** @type {import('../../state/attended_reply.js').Range} */ (looking.range.value);
}

/** @param {Looking} looking @param {number} token */
function tokenName(looking, token) {
  const span = looking.spanOf(token);
  return span === null ? '' : nameOf(looking.spans[span].text);
}

/** @param {Looking} looking @param {number | null} token */
function headOf(looking, token) {
  return token === null ? 'On average, the reply looked at' : `To choose ${tokenName(looking, token)}, it looked at`;
}

/** @param {Looking} looking @returns {string} for a screen reader */
function inWords(looking) {
  const row = looking.row.value;
  if (!row) return '';
  const named = most(row, SPOKEN).map((span) => `${nameOf(looking.spans[span].text)} ${percent(row.spans[span])}`);
  return `${headOf(looking, row.of)} ${named.join(', ')}`;
}
