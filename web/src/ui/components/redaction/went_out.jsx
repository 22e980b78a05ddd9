import { useEffect, useState } from 'preact/hooks';
import { t, tn } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

// More would not be read.
const MOST_LISTED = 30;

/** What the shown chat may have sent as it is, before it was switched on. */
export function WentOut() {
  const app = useApp();
  const chat = app.library.chat.value;
  const before = chat.redaction?.before ?? 0;
  const [values, setValues] = useState(/** @type {string[] | null} */ (null));
  useEffect(() => {
    let current = true;
    setValues(null);
    if (before) {
      const look = app.gate.veils().then((veils) => veils.wentOut(chat));
      look.then((found) => current && setValues(found), () => {});
    }
    return () => {
      current = false;
    };
  }, [chat.id, chat.redaction, before]);
  if (!before || values === null) return <></>;
  const listed = values.slice(0, MOST_LISTED).join(', ');
  return (
    <div class="words">
      <p class="hint">
        {t('What this chat sent before redaction was switched on, the server knows.')}{' '}
        {values.length
          ? tn(values.length, '{n} value was in it:', '{n} values were in it:')
          : t('None of the values that are known now was in it.')}
      </p>
      {listed && <p dir="auto">{values.length > MOST_LISTED ? `${listed}, …` : listed}</p>}
    </div>
  );
}
