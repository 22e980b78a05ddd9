import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { saveFile } from '../../view/download.js';
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
          <h2 tabIndex={-1}>Chats</h2>
          {onClose && <IconButton icon="close" label="Close" onClick={onClose} />}
        </div>
        <button type="button" class="button" onClick={() => app.newChat()}>
          <Icon name="plus" />
          New chat
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
      aria-label="Search all chats"
      placeholder="Search"
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
        {found ? `${chats.length} found` : ''}
      </p>
      <ul class="chats-list" aria-label="Saved chats">
        {chats.map((chat) => (
          <ChatItem key={chat.id} chat={chat} />
        ))}
        {!chats.length && kind !== 'opening' && (
          <li class="chats-none">
            {found ? 'No chat has all these words.' : 'Chats are saved here, on this device only.'}
          </li>
        )}
        {found && found.leftOut > 0 && (
          <li class="chats-none">{found.leftOut} older chats were not searched.</li>
        )}
        {kind === 'memory' && (
          <li class="chats-none">This browser keeps no data for the page: chats last until it is closed.</li>
        )}
      </ul>
    </>
  );
}

function Files() {
  const app = useApp();
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const picked = (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => {
    const files = [...(event.currentTarget.files ?? [])];
    event.currentTarget.value = '';
    if (files.length) void app.importChats(files);
  };
  return (
    <div class="chats-foot">
      <input ref={picker} type="file" accept=".json,application/json" multiple hidden onChange={picked} />
      <button type="button" class="button quiet" onClick={() => picker.current?.click()}>
        Import
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={!app.library.list.value.length}
        onClick={() => void app.exportChats(null, saveFile)}
      >
        Export all
      </button>
    </div>
  );
}
