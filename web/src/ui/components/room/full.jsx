import { useEffect, useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';
import { counted, number } from '../../words/format.js';
import { proposalWords } from '../../words/room.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../engine/messages.js').Proposal} Proposal */
/** @typedef {{proposal: Proposal | null, problem: string}} Answer */

/** Stands where a reply is missing because the context is full: what can be done about it. */
export default function FullContext() {
  const app = useApp();
  const { proposal, problem } = useProposal();
  const noised = app.library.chat.value.noise?.on === true;
  return (
    <div class="message full" role="alert">
      <p>
        <strong>{t('No reply: the context is full.')}</strong> {problem || (proposal && wordsOf(proposal, noised)) || t('Counting…')}
      </p>
      <div class="row">
        {proposal && proposal.units > 0 && <Leave proposal={proposal} />}
        {proposal && proposal.before <= proposal.limit && <Squeeze />}
        {(problem || (proposal && proposal.before > proposal.limit)) && <Choose />}
        {problem && <Edit />}
      </div>
    </div>
  );
}

/** @param {Proposal} proposal @param {boolean} noised */
function wordsOf(proposal, noised) {
  const { units, before, limit, target } = proposal;
  const numbers = { at: number(before), all: counted(limit, 'token') };
  if (units) return `${t('{at} of {all}', numbers)}. ${proposalWords(proposal, noised)}`;
  if (before <= target) return t('{at} of {all}: there is room again.', numbers);
  return t(
    '{at} of {all}. Nothing more goes by itself: the first message, the last turn and what is pinned stay.',
    numbers,
  );
}

/** @param {{proposal: Proposal}} props */
function Leave({ proposal }) {
  const app = useApp();
  const leave = () => {
    if (app.room.take(app.library.chat.value, proposal)) app.regenerate(null);
  };
  return (
    <button type="button" class="button primary" disabled={app.hindrance.value !== null} onClick={leave}>
      {t('Leave out and reply')}
    </button>
  );
}

function Squeeze() {
  const app = useApp();
  const squeeze = () => {
    app.room.decline(app.library.chat.value.id);
    app.regenerate(null);
  };
  return (
    <button type="button" class="button" disabled={app.hindrance.value !== null} onClick={squeeze}>
      {t('Reply in the room there is')}
    </button>
  );
}

function Choose() {
  const app = useApp();
  return (
    <button type="button" class="button" onClick={() => (app.sheet.value = 'context')}>
      {t('Choose what to leave out')}
    </button>
  );
}

function Edit() {
  const app = useApp();
  return (
    <button
      type="button"
      class="button"
      disabled={app.fixed.value}
      onClick={() => (app.editing.value = app.library.chat.value.leaf)}
    >
      {t('Edit the message')}
    </button>
  );
}

/** Asked for anew when the chat changes. @returns {Answer} */
function useProposal() {
  const app = useApp();
  const chat = app.library.chat.value;
  const ready = app.connection.phase.value.name === 'ready';
  const [answer, setAnswer] = useState(/** @type {Answer} */ (NONE));
  useEffect(() => {
    let current = true;
    const show = (/** @type {Partial<Answer>} */ next) => current && setAnswer({ ...NONE, ...next });
    if (ready) {
      app.room.propose(chat).then(
        (proposal) => show({ proposal }),
        (error) => show({ problem: sentence(describeError(error).message) }),
      );
    }
    return () => (current = false);
  }, [chat, ready]);
  return answer;
}

const NONE = { proposal: null, problem: '' };
