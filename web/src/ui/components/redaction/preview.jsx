import { useEffect, useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../state/redaction/veils.js').Previewed} Previewed */

// What is typed is looked at when the typing pauses.
const PAUSE_MS = 150;
// Characters that are looked at while somebody types.
const LONGEST = 20_000;
const NOTHING = { made: null, problem: '' };

/**
 * A text as it would go out in the shown chat, of a long one the beginning; what is older than the text is not shown.
 * @param {string} whole '': none
 * @returns {{made: Previewed | null, problem: string, cut: boolean}}
 */
export function usePreview(whole) {
  const text = whole.slice(0, LONGEST);
  const app = useApp();
  const chat = app.library.chat.value;
  const ready = app.connection.phase.value.name === 'ready';
  const [shown, setShown] = useState(/** @type {{of: string, made: Previewed | null, problem: string}} */ ({ of: '', ...NOTHING }));
  const key = `${chat.id} ${ready} ${text}`;
  useEffect(() => {
    if (!text || !ready) return undefined;
    let current = true;
    const show = (/** @type {Partial<typeof NOTHING> | {made: Previewed}} */ next) =>
      current && setShown({ of: key, ...NOTHING, ...next });
    const look = async () => {
      const veils = await app.gate.veils();
      return veils.preview(chat, text);
    };
    const timer = setTimeout(() => {
      look().then((made) => show({ made }), (error) => show({ problem: sentence(describeError(error).message) }));
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, chat.redaction]);
  const cut = whole.length > LONGEST;
  if (!text) return { ...NOTHING, cut };
  if (!ready) return { ...NOTHING, problem: t('Shown once the model is here.'), cut };
  return shown.of === key ? { ...shown, cut } : { ...NOTHING, cut };
}

/** What goes out; what stands for something else is strong. @param {{made: Previewed}} props */
export function Preview({ made: { text, pieces } }) {
  const parts = [];
  let at = 0;
  for (const piece of pieces) {
    parts.push(text.slice(at, piece.at), <strong key={piece.at}>{text.slice(piece.at, piece.end)}</strong>);
    at = piece.end;
  }
  return (
    <span dir="auto">
      {parts}
      {text.slice(at)}
    </span>
  );
}
