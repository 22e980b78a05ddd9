import { useState } from 'preact/hooks';
import { ASK } from '../../../chats/context/choice.js';
import { places } from '../../../chats/context/changes.js';
import { kept } from '../../../chats/tree.js';
import { describeError } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';
import { counted, number } from '../../words/format.js';
import { againWords, policyWords, proposalWords } from '../../words/room.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Said } from '../controls/said.jsx';
import { Sheet } from '../sheet.jsx';
import { BudgetField } from './budget_field.jsx';
import { MessageLine } from './message_line.jsx';

// A long chat is drawn in parts.
const AT_ONCE = 50;

/** What stands in the context of the shown chat, and what happens when it is full. */
export default function ContextSheet() {
  const app = useApp();
  return (
    <Sheet title={t('Context')} onClose={() => (app.sheet.value = null)}>
      <Fullness />
      <WhenFull key={app.library.chat.value.id} />
      <Messages />
    </Sheet>
  );
}

function Fullness() {
  const app = useApp();
  const { fill, budget } = app.meter;
  const noised = app.library.chat.value.noise?.on === true;
  if (!fill || budget === null) return <p class="hint">{t('Shown once the model is here and has counted the chat.')}</p>;
  const { total, messages, exact } = fill;
  const template = Math.max(0, total - messages.reduce((sum, count) => sum + count, 0));
  const numbers = { at: number(total), all: counted(budget, 'token') };
  const words = exact ? t('{at} of {all}', numbers) : t('about {at} of {all}', numbers);
  return (
    <section class="section" aria-label={t('How full it is')}>
      <p>
        <Said text={t('*{words}*, {n} of them the chat template’s.', { words, n: number(template) })} />
      </p>
      <progress class="bar" max={budget} value={Math.min(total, budget)} aria-label={words} />
      <p class="hint">{againWords(fill, noised)}</p>
      <MakeRoom />
    </section>
  );
}

/** The oldest quarter by hand, said before. */
function MakeRoom() {
  const app = useApp();
  const chat = app.library.chat.value;
  const [asked, setAsked] = useState(/** @type {{proposal: any, chat: any, problem: string} | null} */ (null));
  const propose = () =>
    app.room.propose(chat, true).then(
      (proposal) => setAsked({ proposal, chat, problem: proposal.units ? '' : t('Nothing more goes by itself.') }),
      (error) => setAsked({ proposal: null, chat, problem: sentence(describeError(error).message) }),
    );
  const fresh = asked?.chat === chat ? asked : null;
  const take = () => {
    app.room.take(chat, fresh?.proposal);
    setAsked(null);
  };
  const any = kept(chat).some(({ dropped }) => dropped);
  return (
    <>
      {fresh && <p role="status">{fresh.problem || proposalWords(fresh.proposal, chat.noise?.on === true)}</p>}
      <div class="row">
        {fresh?.proposal?.units ? (
          <button type="button" class="button primary" disabled={app.fixed.value} onClick={take}>
            {t('Leave out')}
          </button>
        ) : (
          <button type="button" class="button" disabled={app.fixed.value || !chat.roots.length} onClick={() => void propose()}>
            {t('Leave out the oldest quarter…')}
          </button>
        )}
        {any && (
          <button type="button" class="button" disabled={app.fixed.value} onClick={() => app.room.restoreAll()}>
            {t('Bring all back')}
          </button>
        )}
      </div>
    </>
  );
}

function WhenFull() {
  const app = useApp();
  const choice = app.library.chat.value.context ?? ASK;
  const noised = app.library.chat.value.noise?.on === true;
  return (
    <section class="section" aria-labelledby="when-full">
      <h3 id="when-full">{t('When this chat is full')}</h3>
      <fieldset class="radios" disabled={app.fixed.value}>
        <legend class="unseen">{t('When this chat is full')}</legend>
        {policyWords().map(([policy, label, hint]) => (
          <label key={policy}>
            <input
              type="radio"
              name="policy"
              checked={choice.policy === policy}
              onChange={() => app.room.choose({ ...choice, policy })}
            />
            <span>
              {label}
              <span class="hint block">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {noised && <p class="hint">{t('With noise it is always asked: what is sent again is charged anew.')}</p>}
      <BudgetField />
    </section>
  );
}

function Messages() {
  const app = useApp();
  const [shown, setShown] = useState(AT_ONCE);
  const chat = app.library.chat.value;
  const all = places(chat);
  const messages = kept(chat);
  const counts = app.meter.fill?.messages ?? [];
  return (
    <section class="section" aria-labelledby="context-messages">
      <h3 id="context-messages">{t('Messages')}</h3>
      <p class="hint">
        {t(
          'What is left out stays in the chat and can be found; other branches with the same message keep it. The system prompt, the first message and the last turn go by hand alone.',
        )}
      </p>
      <ol class="messages">
        {messages.slice(0, shown).map((message, index) => (
          <MessageLine key={all[index] ?? 'system'} place={all[index]} message={message} tokens={counts[index]} />
        ))}
      </ol>
      {messages.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + AT_ONCE)}>
          {t('Show more of {n}', { n: number(messages.length) })}
        </button>
      )}
    </section>
  );
}
