import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../../view/clipboard.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Icon } from './icon.jsx';

const SHOWN_MS = 1600;

/** @param {{text: string, label: string, words?: boolean}} props */
export function CopyButton({ text, label, words = false }) {
  const app = useApp();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    if (await copyText(text)) setDone(true);
    else app.toasts.show(t('This browser does not let the page copy; select the text instead'));
  };
  return (
    <button
      type="button"
      class={words ? undefined : 'icon-button'}
      aria-label={done ? t('Copied') : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={done ? 'done' : 'copy'} />
      {words && <span aria-hidden="true">{done ? t('Copied') : t('Copy')}</span>}
    </button>
  );
}
