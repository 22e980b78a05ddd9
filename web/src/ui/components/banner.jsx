import { useState } from 'preact/hooks';
import { sentence } from '../words/explain.js';
import { isExposed } from '../view/origin.js';
import { useApp } from './context.jsx';

/** What is wrong with the connection, and what plain http loses, above the messages. */
export function Banners() {
  const app = useApp();
  const [hidden, setHidden] = useState(false);
  const phase = app.connection.phase.value;
  const notice = app.notice.value;
  return (
    <div role="status">
      {notice && (
        <div class="banner">
          <p>{notice}</p>
        </div>
      )}
      {phase.name === 'offline' && app.library.chat.value.leaf !== null && (
        <div class="banner">
          <p>
            {sentence(phase.problem?.message ?? 'The server cannot be reached.')} Saved chats can be read meanwhile.
          </p>
          <button type="button" class="button" onClick={() => void app.connection.connect()}>
            Try now
          </button>
        </div>
      )}
      {isExposed(location) && !hidden && (
        <div class="banner">
          <p>
            Plain http: anyone on the way reads along, the token too. No install, no opening offline, slower
            storage.
          </p>
          <button type="button" class="button" onClick={() => setHidden(true)}>
            Hide
          </button>
        </div>
      )}
    </div>
  );
}
