import { nameOf } from '../../words/attention.js';
import { chance } from '../../words/likely.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../state/likely_reply.js').LikelyReply} LikelyReply */

/** What could have come at the chosen token: each goes on from there. @param {{reply: LikelyReply, node: string}} props */
export function Alternatives({ reply, node }) {
  const app = useApp();
  const found = reply.alternatives.value;
  const at = reply.chosen.value;
  if (at === null || found?.of !== at) return null;
  if (found.list === null) {
    return <p>{t('Of this token it is not kept: a form left no choice, or newer replies needed the room.')}</p>;
  }
  const said = reply.tokenAt(at)?.id;
  const hindrance = app.hindrance.value;
  return (
    <div>
      <h3>{t('Go on with another one')}</h3>
      {hindrance && <p class="hint">{hindrance}</p>}
      <ol class="alternatives">
        {found.list.map(([id, text, logprob]) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === said}
              disabled={hindrance !== null}
              onClick={() => app.steering.branch(node, at, id)}
            >
              <span class="alternative-text">{nameOf(text)}</span>
              {id === said && <span class="hint">{t('said')}</span>}
              <span class="number">{chance(logprob)}</span>
              <span class="share" aria-hidden="true" style={{ width: `${100 * Math.exp(logprob)}%` }} />
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
