import { useState } from 'preact/hooks';
import { ASK } from '../../../chats/context/choice.js';
import { readBudget } from '../../words/room.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** How many tokens the shown chat may have; taken over while it can be read. */
export function BudgetField() {
  const app = useApp();
  const choice = app.library.chat.value.context ?? ASK;
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const read = readBudget(typed ?? '');
  const problem = 'problem' in read ? read.problem : '';
  const type = (/** @type {string} */ text) => {
    const now = readBudget(text);
    setTyped(text);
    if ('value' in now) app.room.choose({ ...choice, budget: now.value });
  };
  return (
    <div class="field">
      <label for="context-budget">{t('Budget in tokens')}</label>
      <input
        id="context-budget"
        class="text-field"
        inputMode="numeric"
        autocomplete="off"
        aria-invalid={problem ? 'true' : undefined}
        aria-describedby="context-budget-hint"
        disabled={app.fixed.value}
        value={typed ?? choice.budget ?? ''}
        onInput={(event) => type(event.currentTarget.value)}
        onBlur={() => !problem && setTyped(null)}
      />
      <p class={problem ? 'problem' : 'hint'} id="context-budget-hint">
        {problem || t('For the chat and the beginning of its reply. Empty: all that the model has.')}
      </p>
    </div>
  );
}
