import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** Whoever reads aloud is loaded when that is first asked for.
 * @typedef {typeof import('../../view/device/speech.js')} Speech */

/** Reads a reply aloud, or hands it to another app, where the device can. @param {{node: string, text: string}} props */
export function Outward({ node, text }) {
  return (
    <>
      {'speechSynthesis' in window && <Aloud node={node} text={text} />}
      {'share' in navigator && <Share text={text} />}
    </>
  );
}

/** @param {{node: string, text: string}} props */
function Aloud({ node, text }) {
  const app = useApp();
  const speech = useSignal(/** @type {Speech | null} */ (null));
  const id = `${app.library.chat.value.id} ${node}`;
  useEffect(() => () => speech.peek()?.hush(), [id]);
  const reading = speech.value?.spoken.value === id;
  const toggle = async () => {
    try {
      speech.value ??= await import('../../view/device/speech.js');
    } catch {
      return app.missing();
    }
    if (await speech.value.toggleSpeech(id, text)) return;
    app.toasts.show(t('This device has no voice of its own; other voices would send the text to somebody'));
  };
  return (
    <IconButton
      icon={reading ? 'stop' : 'speak'}
      label={reading ? t('Stop reading') : t('Read aloud')}
      onClick={() => void toggle()}
    />
  );
}

/** @param {{text: string}} props */
function Share({ text }) {
  const app = useApp();
  const share = () =>
    navigator.share({ text }).catch((/** @type {unknown} */ error) => {
      // Whoever closes the sheet of the device wants nothing more.
      if (error instanceof Error && error.name === 'AbortError') return;
      app.toasts.show(t('This browser could not share the text'));
    });
  return <IconButton icon="share" label={t('Share')} onClick={() => void share()} />;
}
