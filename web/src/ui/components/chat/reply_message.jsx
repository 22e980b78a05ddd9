import { duration, rate, tokensThere, tripsTaken } from '../../words/format.js';
import { ELSEWHERE } from '../../words/explain.js';
import { shownReply, whyReplyEnded } from '../../words/form.js';
import { useBlocks } from '../../view/blocks.js';
import { Branches } from './branches.jsx';
import { useApp } from '../context.jsx';
import { CopyButton } from '../controls/copy_button.jsx';
import { IconButton } from '../controls/icon.jsx';
import { LookedButton } from '../attention/button.jsx';
import { Markdown } from './markdown.jsx';
import { Repeating } from './repeating.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** @param {{node: ChatNode, last: boolean}} props */
export function ReplyMessage({ node, last }) {
  const app = useApp();
  const blocks = useBlocks(shownReply(node.content, node.stats?.form), false);
  const elsewhere = last && app.elsewhere.writing.value;
  const figures = last ? figuresOf(node.stats) : '';
  return (
    <article class="message from-model" aria-label="Reply">
      <Markdown blocks={blocks} />
      {elsewhere ? <p class="ended">{ELSEWHERE}</p> : <Ended node={node} />}
      <div class="actions">
        <CopyButton text={node.content} label="Copy reply" />
        <IconButton
          icon="again"
          label="Another reply"
          disabled={app.hindrance.value !== null}
          onClick={() => app.regenerate(node.id)}
        />
        {last && (
          <IconButton
            icon="undo"
            label="Take back the last exchange"
            disabled={app.fixed.value}
            onClick={() => app.undo()}
          />
        )}
        <LookedButton node={node.id} />
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
  if (!why) return node.content ? null : <p class="ended">An empty reply.</p>;
  return <p class={message ? 'ended failed' : 'ended'}>{why}</p>;
}

/** @param {ChatNode['stats']} stats @returns {string} */
function figuresOf(stats) {
  if (typeof stats?.tokens !== 'number' || stats.tokens < 1) return '';
  const { tokensPerSecond, ttft, adapter } = stats;
  const parts = [];
  if (typeof tokensPerSecond === 'number' && tokensPerSecond > 0) parts.push(rate(tokensPerSecond));
  if (typeof ttft === 'number') parts.push(`TTFT ${duration(ttft)}`);
  const there = tokensThere(stats);
  if (there) parts.push(there);
  const trips = tripsTaken(stats);
  if (trips) parts.push(trips);
  if (typeof adapter === 'string') parts.push(`adapter ${adapter}`);
  return parts.join(' · ');
}
