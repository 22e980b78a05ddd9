import { useEffect, useRef, useState } from 'preact/hooks';
import { FormCheck } from '../../state/form_check.js';
import { sentence } from '../../words/explain.js';
import { kinds, textsOf } from '../../words/form.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../../types/gatelink').FormChoice} FormChoice */
/** @typedef {FormChoice['kind'] | 'free'} Kind */

// Typing is not answered letter by letter.
const PAUSE_MS = 250;

/** What the replies of the shown chat have to be. */
export function FormOfReplies() {
  const app = useApp();
  const { kind, text, problem, used, choose, type } = useForm(app);
  const about = textsOf(kind);
  return (
    <>
      <div class="field">
        <label for="form">{t('Form of replies')}</label>
        <select
          id="form"
          class="text-field"
          value={kind}
          disabled={app.fixed.value}
          onChange={(event) => choose(/** @type {Kind} */ (event.currentTarget.value))}
        >
          {kinds().map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
      </div>
      {about && (
        <div class="field">
          <label for="form-text">{about.label}</label>
          <textarea
            id="form-text"
            class="text-field code-field"
            rows={6}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            dir="ltr"
            aria-invalid={problem ? 'true' : undefined}
            aria-describedby="form-hint"
            value={text}
            disabled={app.fixed.value}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <p class={problem ? 'problem' : 'hint'} id="form-hint" aria-live="polite">
            {problem || (used ? `${t('In use.')} ${about.hint}` : about.hint)}
          </p>
        </div>
      )}
    </>
  );
}

/** What is chosen and typed; the chat has it once it can be enforced. @param {import('../../state/app.js').App} app */
function useForm(app) {
  const kept = app.library.chat.value.form ?? null;
  const [kind, setKind] = useState(/** @type {Kind} */ (kept?.kind ?? 'free'));
  const [text, setText] = useState(kept?.text ?? '');
  const [problem, setProblem] = useState('');
  const check = useRef(/** @type {FormCheck | null} */ (null));
  const chat = app.library.chat.value.id;
  const needsText = textsOf(kind) !== null;
  useEffect(() => () => check.current?.close(), []);
  useEffect(() => {
    const form = kind === 'free' ? null : { kind, text: needsText ? text : '' };
    if (form?.kind === kept?.kind && form?.text === kept?.text) return setProblem('');
    if (!form || !needsText) return void (setProblem(''), app.changeChat({ form }));
    if (!text.trim()) return void (setProblem(''), app.changeChat({ form: null }));
    let here = true;
    const timer = setTimeout(async () => {
      const found = await (check.current ??= new FormCheck()).problem(form);
      if (!here || app.library.chat.value.id !== chat) return;
      const meanwhile = kept
        ? t('Until it can be used, the form before it holds.')
        : t('Until it can be used, replies are free.');
      setProblem(found ? `${sentence(found)} ${meanwhile}` : '');
      if (!found) app.changeChat({ form });
    }, PAUSE_MS);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [kind, text]);
  const choose = (/** @type {Kind} */ next) => {
    setKind(next);
    setText(next === kept?.kind ? kept.text : '');
    setProblem('');
  };
  const used = kind === kept?.kind && text === kept.text;
  return { kind, text, problem, used, choose, type: setText };
}
