import { useState } from 'preact/hooks';
import { sentence } from '../words/explain.js';
import { saveFile } from '../view/download.js';
import { isExposed } from '../view/origin.js';
import { t } from '../words/languages/words.js';
import { useApp } from './context.jsx';
import { Lazy } from './lazy.jsx';

const otherModel = () => import('./chat/other_model.jsx');

/** What is wrong with the connection or the storage, and what plain http loses, above the messages. */
export function Banners() {
  const app = useApp();
  const [hidden, setHidden] = useState(false);
  const phase = app.connection.phase.value;
  const notice = app.notice.value;
  const chat = app.library.chat.value;
  return (
    <div role="status">
      <NotSaved />
      {notice && (
        <div class="banner">
          <p>{notice}</p>
        </div>
      )}
      {phase.name === 'offline' && app.library.chat.value.leaf !== null && (
        <div class="banner">
          <p>
            {sentence(phase.problem?.message ?? t('The server cannot be reached.'))} {t('Saved chats can be read meanwhile.')}
          </p>
          <button type="button" class="button" onClick={() => void app.connection.connect()}>
            {t('Try now')}
          </button>
        </div>
      )}
      {chat.leaf !== null && chat.served !== undefined && chat.served !== app.settings.value.model && (
        <Lazy key={chat.id} load={otherModel} onMissing={() => {}} />
      )}
      {isExposed(location) && !hidden && (
        <div class="banner">
          <p>
            {t('Plain http: anyone on the way reads along, the token too. No install, no opening offline, slower storage.')}
          </p>
          <button type="button" class="button" onClick={() => setHidden(true)}>
            {t('Hide')}
          </button>
        </div>
      )}
    </div>
  );
}

/** The shown chat, or else another one, that the disk did not take: it stands here until it is saved. */
function NotSaved() {
  const app = useApp();
  const failed = app.library.failed.value;
  const { id: shown } = app.library.chat.value;
  const id = failed.has(shown) ? shown : failed.keys().next().value;
  if (id === undefined) return null;
  const title = app.library.list.value.find((chat) => chat.id === id)?.title ?? '';
  return (
    <div class="banner">
      <p>
        {id === shown
          ? t('This chat is not saved, and may be gone when the page is closed.')
          : t('“{title}” is not saved, and may be gone when the page is closed.', { title })}{' '}
        {sentence(failed.get(id) ?? '')}
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => void app.exchange.save(id, saveFile)}>
          {id === shown ? t('Export this chat') : t('Export that chat')}
        </button>
        <button type="button" class="button" onClick={() => void app.library.saveAgain()}>
          {t('Save again')}
        </button>
      </div>
    </div>
  );
}
