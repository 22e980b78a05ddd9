import { kindWord, replacedWords } from '../../words/redacted.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Sheet } from '../sheet.jsx';
import { Preview, usePreview } from './preview.jsx';
import { WentOut } from './went_out.jsx';

/** What of the shown chat goes out, and its map. */
export function RedactionSheet() {
  const app = useApp();
  const { redaction, system } = app.library.chat.value;
  return (
    <Sheet title={t('What goes out')} onClose={() => (app.sheet.value = null)}>
      {!redaction?.on && <p>{t('Redaction is off: this chat goes out as it is.')}</p>}
      {redaction?.on && (
        <>
          <Part title={t('The message that is being written')} text={app.written} />
          {system && <Part title={t('System prompt')} text={system} />}
          <WentOut />
          <Limits />
        </>
      )}
      {redaction && <TheMap redaction={redaction} />}
    </Sheet>
  );
}

/** @param {{title: string, text: string}} props */
function Part({ title, text }) {
  const { made, problem, cut } = usePreview(text);
  return (
    <section class="section words">
      <h3>{title}</h3>
      {!text && <p class="hint">{t('Nothing is written yet.')}</p>}
      {problem && <p class="problem">{problem}</p>}
      {made && (
        <>
          <div class="bubble">
            <Preview made={made} />
          </div>
          <p class="hint">
            {replacedWords(made.pieces.length)}
            {cut && ` ${t('Only the beginning is shown; all of it is replaced.')}`}
          </p>
        </>
      )}
    </section>
  );
}

function Limits() {
  return (
    <section class="section words" aria-labelledby="redaction-limits">
      <h3 id="redaction-limits">{t('What it does not do')}</h3>
      <p>
        {t(
          'Names that it does not know are sent as they are: your own list closes that gap. What is written about somebody travels as it is. The server sees which surrogate stands where, that it is the same one again, the country of a phone number or an IBAN, and how long everything is; it can recognise surrogates.',
        )}
      </p>
      <p>
        {t(
          'Values come back in visible text alone, never in addresses of links and pictures or in HTML: a reply could lead them away. Assume that the server can recover the prompt, as it was sent, and the reply.',
        )}
      </p>
    </section>
  );
}

/** @param {{redaction: import('../../../chats/types').Redaction}} props */
function TheMap({ redaction }) {
  const app = useApp();
  const { entries } = redaction;
  return (
    <section class="section" aria-labelledby="redaction-map">
      <h3 id="redaction-map">{t('What stands for what')}</h3>
      {entries.length ? (
        <dl class="facts losses">
          {entries.map(({ kind, key, value, surrogate }) => (
            <>
              <dt key={`${kind} ${key}`}>
                <span dir="auto">{value}</span> <span class="hint">{kindWord(kind)}</span>
              </dt>
              <dd dir="auto">{surrogate}</dd>
            </>
          ))}
        </dl>
      ) : (
        <p class="hint">{t('No value was found yet.')}</p>
      )}
      <p class="hint">
        {t('Saved with this chat in this browser, and exported with it; deleted with it. It is as private as the chat.')}
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => (app.sheet.value = 'settings')}>
          {t('Names of your own…')}
        </button>
      </div>
    </section>
  );
}
