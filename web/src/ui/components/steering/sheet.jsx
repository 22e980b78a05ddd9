import { useMemo } from 'preact/hooks';
import { useSignal, useSignalEffect } from '@preact/signals';
import { LikelyReply } from '../../state/likely_reply.js';
import { nameOf } from '../../words/attention.js';

import { SURPRISES, chance, toldOf } from '../../words/likely.js';
import { t, tn } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Sheet } from '../sheet.jsx';
import { Alternatives } from './alternatives.jsx';
import { Tokens } from './tokens.jsx';

const LISTED = 5;

/** How likely the tokens of a reply were, and what could have come in the place of each. */
export default function LikelySheet() {
  const app = useApp();
  const node = app.steering.looked.peek() ?? '';
  const answer = app.steering.answerOf(node) ?? '';
  const reply = useMemo(() => new LikelyReply(app.connection.engine, answer), []);
  const open = useSignal(true);
  useSignalEffect(() => {
    // A pass of the head for each token would hold up a reply that is being made.
    if (!app.replies.running.value) void reply.load(() => open.peek() && !app.replies.running.peek());
  });
  useSignalEffect(() => () => (open.value = false));
  return (
    <Sheet title={t('How likely it was')} onClose={() => (app.sheet.value = null)}>
      {reply.gone.value ? (
        <p>{t('Its tokens are not there any more: they are kept for the newest replies, until the page is loaded again.')}</p>
      ) : (
        reply.count.value !== null && <Parts reply={reply} node={node} />
      )}
    </Sheet>
  );
}

/** @param {{reply: LikelyReply, node: string}} props */
function Parts({ reply, node }) {
  const spoken = useSignal('');
  const choose = async (/** @type {number} */ at) => {
    await reply.choose(at);
    const token = reply.tokenAt(at);
    if (token && reply.chosen.value === at) spoken.value = toldOf(token, reply.alternatives.value?.list ?? null);
  };
  return (
    <div class="attended">
      {reply.first > 0 && <p class="hint">{tn(reply.first, '{n} earlier token not shown.', '{n} earlier tokens not shown.')}</p>}
      <Tokens reply={reply} choose={choose} />
      <Legend />
      <Alternatives reply={reply} node={node} />
      <Surprises reply={reply} choose={choose} />
      <Notes reply={reply} />
      <p class="unseen" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

function Legend() {
  const words = [`≥${100 * SURPRISES[0]}`, ...SURPRISES.map((below) => `<${100 * below}`)];
  return (
    <p class="legend">
      <span class="unseen">{t('Colours, from expected to surprising, by probability in percent:')}  </span>
      {words.map((word, level) => (
        <span key={level} class="swatch" data-level={level}>
          {word}
        </span>
      ))}
      <span class="hint">{t('% probable')}</span>
    </p>
  );
}

/** The least likely tokens, by which a reply might have gone another way. @param {{reply: LikelyReply, choose: (at: number) => Promise<void>}} props */
function Surprises({ reply, choose }) {
  const listed = reply.surprises(LISTED);
  if (!listed.length) return null;
  return (
    <div>
      <h3>{t('Most surprising')}</h3>
      <div class="row">
        {listed.map((at) => {
          const token = /** @type {import('../../../engine/messages.js').ReplyToken} */ (reply.tokenAt(at));
          return (
            <button key={at} type="button" class="button" onClick={() => void choose(at)}>
              {nameOf(token.text)} {chance(/** @type {number} */ (token.logprob))}
            </button>
          );
        })}
      </div>
    </div>
  );
}

/** @param {{reply: LikelyReply}} props */
function Notes({ reply }) {
  const app = useApp();
  const waits = !reply.whole && app.replies.running.value !== null;
  return (
    <p class="hint">
      {waits && `${t('The rest is worked out when the reply that is being written has ended.')} `}
      {t(
          'The model’s own probabilities, before temperature, filters, penalties and forms, worked out on this device: nothing travels. They are kept for the newest replies, never saved.',
        )}
      {app.library.chat.value.noise?.on &&
        ` ${t('With noise they are those of the noised rows; a chosen token is one more row, and counts as one.')}`}
      {app.library.chat.value.redaction?.on &&
        ` ${t('What it had is shown: surrogates stand in place of your values.')}`}
    </p>
  );
}
