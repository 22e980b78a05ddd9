import { useRef } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';
import { size } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** The files that go with the next message. */
export function AttachedFiles() {
  const app = useApp();
  const files = app.attached.waiting.value;
  if (!files.length) return null;
  return (
    <ul class="attached" aria-label={t('Files that go with this message')}>
      {files.map((file) => (
        <li key={file}>
          <span class="name" dir="auto">
            {file.name}
          </span>
          <span class="hint">{size(new TextEncoder().encode(file.text).length)}</span>
          <IconButton
            icon="close"
            label={t('Leave out {name}', { name: file.name })}
            onClick={() => app.attached.remove(file)}
          />
        </li>
      ))}
    </ul>
  );
}

/** Chooses text files; they are read here, and go with the next message. */
export function AttachButton() {
  const app = useApp();
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const picked = async (/** @type {HTMLInputElement} */ input) => {
    const files = [...(input.files ?? [])];
    input.value = '';
    if (!files.length) return;
    await app.attached.add(files).catch((error) => app.toasts.show(sentence(describeError(error).message)));
  };
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('Attach text files')}
        onChange={(event) => void picked(event.currentTarget)}
      />
      <IconButton icon="attach" label={t('Attach text files')} onClick={() => picker.current?.click()} />
    </>
  );
}
