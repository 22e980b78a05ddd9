import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { groupsOf } from '../../view/chats/groups.js';
import { saveFile } from '../../view/download.js';
import { dated, t, tn } from '../../words/languages/words.js';
import { ChatItem } from './item.jsx';
import { useApp } from '../context.jsx';
import { Icon, IconButton } from '../controls/icon.jsx';

const SEARCH_AFTER_MS = 200;

/** The saved chats: new, search, list, import and export. @param {{onClose?: () => void}} props */
export function Chats({ onClose }) {
  const app = useApp();
  return (
    <div class="chats">
      <div class="chats-head">
        <div class="row">
          <h2 tabIndex={-1}>{t('Chats')}</h2>
          {onClose && <IconButton icon="close" label={t('Close')} onClick={onClose} />}
        </div>
        <button type="button" class="button" onClick={() => app.newChat()}>
          <Icon name="plus" />
          {t('New chat')}
        </button>
        <Search />
      </div>
      <List />
      <Files />
    </div>
  );
}

function Search() {
  const app = useApp();
  const words = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => void app.library.search(words.value), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [words.value]);
  useEffect(() => () => void app.library.search(''), []);
  return (
    <input
      type="search"
      class="text-field chats-search"
      aria-label={t('Search all chats')}
      placeholder={t('Search')}
      autocomplete="off"
      value={words.value}
      onInput={(event) => (words.value = event.currentTarget.value)}
    />
  );
}

function List() {
  const app = useApp();
  const found = app.library.found.value;
  const chats = found?.found ?? app.library.list.value;
  const kind = app.library.kind.value;
  return (
    <>
      <p class="unseen" role="status">
        {found ? tn(chats.length, '{n} found', '{n} found') : ''}
      </p>
      <div class="chats-list">
        {found ? <Items label={t('Saved chats')} chats={chats} /> : <Groups chats={chats} />}
        {!chats.length && kind !== 'opening' && (
          <p class="chats-none">
            {found ? t('No chat has all these words.') : t('Chats are saved here, on this device only.')}
          </p>
        )}
        {found && found.leftOut > 0 && (
          <p class="chats-none">
            {tn(found.leftOut, '{n} older chat was not searched.', '{n} older chats were not searched.')}
          </p>
        )}
        {kind === 'memory' && (
          <p class="chats-none">
            {t('This browser keeps no data for the page: chats last until it is closed.')}
          </p>
        )}
      </div>
    </>
  );
}

/** @typedef {import('../../../chats/types').ChatSummary} ChatSummary */

/** Pinned chats, folders, which can be closed, and days. @param {{chats: ChatSummary[]}} props */
function Groups({ chats }) {
  return (
    <>
      {groupsOf(chats, Date.now()).map((group) => {
        const words = nameOf(group);
        const items = <Items label={`${t('Saved chats')}: ${words}`} chats={group.chats} />;
        return group.kind === 'folder' ? (
          <details key={`folder ${words}`} class="chats-group" open>
            <summary>
              <Icon name="folder" />
              <span dir="auto">{words}</span>
            </summary>
            {items}
          </details>
        ) : (
          <section key={words} class="chats-group">
            <h3>{words}</h3>
            {items}
          </section>
        );
      })}
    </>
  );
}

/** @param {import('../../view/chats/groups.js').Group<ChatSummary>} group */
function nameOf({ kind, name }) {
  switch (kind) {
    case 'pinned':
      return t('Pinned');
    case 'today':
      return t('Today');
    case 'yesterday':
      return t('Yesterday');
    case 'week':
      return t('The last 7 days');
    case 'month':
      return t('The last 30 days');
    case 'earlier':
      return dated(Date.parse(`${name}-15`), { month: 'long', year: 'numeric' });
    case 'folder':
      return name;
  }
}

/** @param {{label: string, chats: ChatSummary[]}} props */
function Items({ label, chats }) {
  if (!chats.length) return null;
  return (
    <ul aria-label={label}>
      {chats.map((chat) => (
        <ChatItem key={chat.id} chat={chat} />
      ))}
    </ul>
  );
}

function Files() {
  const app = useApp();
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const picked = (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => {
    const files = [...(event.currentTarget.files ?? [])];
    event.currentTarget.value = '';
    if (!files.length) return;
    app.sheet.value = null;
    void app.exchange.take(files);
  };
  return (
    <div class="chats-foot">
      <input ref={picker} type="file" accept=".json,application/json" multiple hidden onChange={picked} />
      <button type="button" class="button quiet" onClick={() => picker.current?.click()}>
        {t('Import')}
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={!app.library.list.value.length}
        onClick={() => void app.exchange.save(null, saveFile)}
      >
        {t('Export all')}
      </button>
    </div>
  );
}
