import { adapterWords } from '../../words/adapters.js';
import { duration, isFigure, rate, tokensThere, tripsTaken } from '../../words/format.js';
import { elsewhereWords } from '../../words/explain.js';
import { whyReplyEnded } from '../../words/form.js';
import { Branches } from './branches.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { CopyButton } from '../controls/copy_button.jsx';
import { IconButton } from '../controls/icon.jsx';
import { LookedButton } from '../attention/button.jsx';
import { ReplyText } from '../room/message_text.jsx';
import { PinButton } from '../room/pin_button.jsx';
import { Outward } from './outward.jsx';
import { Repeating } from './repeating.jsx';
import { Continue, LikelyButton, More, ReplyEditor } from '../steering/buttons.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

// Of an adapter with its host.
const LONGEST_NAME = 128;

/** @param {{node: ChatNode, last: boolean}} props */
export function ReplyMessage({ node, last }) {
  const app = useApp();
  const elsewhere = last && app.elsewhere.writing.value;
  const figures = last ? figuresOf(node.stats) : '';
  if (app.editing.value === node.id) return <ReplyEditor node={node} />;
  return (
    <article class="message from-model" aria-label={t('Reply')} data-node={node.id}>
      <ReplyText node={node} />
      {elsewhere ? <p class="ended">{elsewhereWords()}</p> : <Ended node={node} />}
      {last && <Continue node={node} />}
      <div class="actions">
        <CopyButton text={node.content} label={t('Copy reply')} />
        <IconButton
          icon="again"
          label={t('Another reply')}
          disabled={app.hindrance.value !== null}
          onClick={() => app.regenerate(node.id)}
        />
        {last && (
          <IconButton
            icon="undo"
            label={t('Take back the last exchange')}
            disabled={app.fixed.value}
            onClick={() => app.undo()}
          />
        )}
        <PinButton node={node} />
        <LookedButton node={node.id} />
        <LikelyButton node={node.id} />
        <More node={node} />
        <Outward node={node.id} text={node.content} />
        <Branches node={node} />
        {figures && <span class="figures">{figures}</span>}
      </div>
      <Repeating node={node.id} />
    </article>
  );
}

/** Why the reply is not whole. @param {{node: ChatNode}} props */
function Ended({ node }) {
  const message = node.stats?.message;
  const why = whyReplyEnded(node);
  if (!why) return node.content ? null : <p class="ended">{t('An empty reply.')}</p>;
  return <p class={message ? 'ended failed' : 'ended'}>{why}</p>;
}

/** @param {ChatNode['stats']} stats @returns {string} */
function figuresOf(stats) {
  if (!isFigure(stats?.tokens) || stats.tokens < 1) return '';
  const { tokensPerSecond, ttft, adapter } = stats;
  const parts = [];
  if (isFigure(tokensPerSecond) && tokensPerSecond > 0) parts.push(rate(tokensPerSecond));
  if (isFigure(ttft)) parts.push(`TTFT ${duration(ttft)}`);
  const there = tokensThere(stats);
  if (there) parts.push(there);
  const trips = tripsTaken(stats);
  if (trips) parts.push(trips);
  if (typeof adapter === 'string') parts.push(t('adapter {name}', { name: adapterWords(adapter).slice(0, LONGEST_NAME) }));
  return parts.join(' · ');
}
