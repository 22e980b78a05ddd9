import { t, tn } from '../../words/languages/words.js';
import { saveFile } from '../../view/download.js';
import { useApp } from '../context.jsx';

/** How many chats are kept here, and how to take them along. */
export function ChatsSection() {
  const app = useApp();
  const { length } = app.library.list.value;
  return (
    <section class="section" aria-labelledby="kept-chats">
      <h3 id="kept-chats">{t('Chats')}</h3>
      <div class="kept">
        <p>
          {tn(length, '{n} chat is saved here', '{n} chats are saved here')}
          <span class="hint block">
            {t('On this device only: whoever clears the data of this page in the browser deletes them.')}
          </span>
        </p>
        <button
          type="button"
          class="button"
          disabled={!length}
          onClick={() => void app.exchange.save(null, saveFile)}
        >
          {t('Export all')}
        </button>
      </div>
    </section>
  );
}
