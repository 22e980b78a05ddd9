import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { counted, number } from '../../words/format.js';
import { nameOf } from '../../words/attention.js';
import { chance, surpriseOf } from '../../words/likely.js';
import { IconButton } from '../controls/icon.jsx';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../state/likely_reply.js').LikelyReply} LikelyReply */
/** @typedef {import('../../../engine/messages.js').ReplyToken} ReplyToken */
/** @typedef {{reply: LikelyReply, choose: (at: number) => Promise<void>}} Choosing */

// A part is drawn again only where something in it has changed.
const PART = 64;

/** The reply as its tokens, of which one is chosen by a tap, or with the arrow keys. @param {Choosing} props */
export function Tokens({ reply, choose }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { tokens, first } = { tokens: reply.tokens.value, first: reply.first };
  const chosen = reply.chosen.value;
  useLayoutEffect(() => place.current?.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const pointed = (/** @type {MouseEvent} */ event) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.at : undefined;
    if (at !== undefined) void choose(Number(at));
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const next = afterKey(event, chosen, first, first + tokens.length - 1);
    if (next === null) return;
    event.preventDefault();
    void choose(next);
  };
  const parts = [];
  for (let at = 0; at < tokens.length; at += PART) parts.push(tokens.slice(at, at + PART));
  return (
    <>
      <div
        class="tokens"
        ref={place}
        dir="auto"
        role="group"
        aria-label={t('The reply. The arrow keys choose a token.')}
        tabIndex={0}
        onClick={pointed}
        onKeyDown={pressed}
      >
        {parts.map((part, index) => (
          <Part key={index} tokens={part} first={first + index * PART} chosen={chosen} />
        ))}
      </div>
      <Steps reply={reply} choose={choose} />
    </>
  );
}

/** @param {{tokens: ReplyToken[], first: number, chosen: number | null}} props */
function Part({ tokens, first, chosen }) {
  const here = chosen !== null && chosen >= first && chosen < first + tokens.length ? chosen : null;
  return useMemo(
    () => (
      <>
        {tokens.map(({ text, control, logprob }, index) => (
          <span
            key={index}
            data-at={first + index}
            data-level={control ? 0 : surpriseOf(logprob)}
            class={`${control ? 'control' : 'assistant'}${/^\s*\n\s*$/.test(text) ? ' break' : ''}${first + index === here ? ' chosen' : ''}`}
          >
            {text}
          </span>
        ))}
      </>
    ),
    [tokens.length, first, here],
  );
}

/** One token on or back, for fingers; and which one it is. @param {Choosing} props */
function Steps({ reply, choose }) {
  const chosen = reply.chosen.value;
  const { first } = reply;
  const end = first + reply.tokens.value.length;
  const token = chosen === null ? undefined : reply.tokenAt(chosen);
  if (chosen === null || !token) return <p class="hint">{t('Choose a token to see what else could have come.')}</p>;
  return (
    <div class="row one-line">
      <IconButton icon="back" label={t('Token before')} disabled={chosen <= first} onClick={() => void choose(chosen - 1)} />
      <p class="step">
        {nameOf(token.text)} {token.logprob === null ? '' : chance(token.logprob)}
        <span class="hint">
          {' '}
          {t('{at} of {all}', { at: number(chosen + 1), all: counted(reply.count.value ?? end, 'token') })}
        </span>
      </p>
      <IconButton icon="next" label={t('Next token')} disabled={chosen >= end - 1} onClick={() => void choose(chosen + 1)} />
    </div>
  );
}

/** @param {KeyboardEvent} event @param {number | null} chosen @param {number} first @param {number} last @returns {number | null} */
function afterKey(event, chosen, first, last) {
  const next = { ArrowRight: (chosen ?? first - 1) + 1, ArrowLeft: (chosen ?? last + 1) - 1, Home: first, End: last }[event.key];
  if (next === undefined || last < first || event.altKey || event.ctrlKey || event.metaKey) return null;
  return Math.max(first, Math.min(last, next));
}
