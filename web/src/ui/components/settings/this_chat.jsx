import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../words/languages/words.js';
import { AdapterChoice } from './adapter_choice.jsx';
import { AttentionSwitch } from '../attention/switch.jsx';
import { FormOfReplies } from './form.jsx';
import { Presets } from './presets.jsx';
import { useApp } from '../context.jsx';

/** The system prompt, the adapter and the attention of the shown chat. */
export function ThisChat() {
  const app = useApp();
  const chat = app.library.chat.value;
  const draft = useRef(/** @type {string | null} */ (null));
  const changed = (/** @type {string} */ system) => {
    draft.current = null;
    app.changeChat({ system });
    // What is written for a chat that has not begun is meant for the next ones too.
    if (!app.library.chat.value.roots.length) app.change({ system });
  };
  // A chat is written to the disk once for a text, not for each of its letters: when the field is left.
  const left = () => {
    if (draft.current !== null) changed(draft.current);
  };
  useEffect(() => left, []);
  return (
    <section class="section" aria-labelledby="this-chat">
      <h3 id="this-chat">{t('This chat')}</h3>
      {app.fixed.value && <p class="hint">{t('What is grey can be changed once the reply is written.')}</p>}
      <div class="field">
        <label for="system">{t('System prompt')}</label>
        <textarea
          id="system"
          class="text-field"
          aria-describedby="system-hint"
          dir="auto"
          value={draft.current ?? chat.system}
          disabled={app.fixed.value}
          onInput={(event) => (draft.current = event.currentTarget.value)}
          onBlur={left}
        />
        <Presets text={chat.system} disabled={app.fixed.value} onChoice={changed} />
        <p class="hint" id="system-hint">
          {t('Goes before the first message, and to the server with it. Empty: none.')}
        </p>
      </div>
      <FormOfReplies key={chat.id} />
      <AdapterChoice />
      <AttentionSwitch />
    </section>
  );
}
