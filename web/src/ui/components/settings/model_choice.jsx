import { useEffect, useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { loadToken } from '../../../pairing/pair.js';
import { listModels } from '../../../transport/served.js';
import { sentence } from '../../words/explain.js';
import { size } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../transport/served.js').ServedModel} ServedModel */

const AGAIN_MS = 3000;
const STATES = {
  unloaded: () => t('Not loaded: whoever chooses it waits for it'),
  loading: () => t('The server loads it now'),
  loaded: () => t('Loaded'),
  leaving: () => t('About to leave the server’s memory'),
};

/** Which of the server's models answers; nothing, where it has one. */
export function ModelChoice() {
  const app = useApp();
  const { name: phase, server } = app.connection.phase.value;
  const [models, setModels] = useState(/** @type {ServedModel[]} */ ([]));
  const [kept, setKept] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState('');
  const chosen = app.settings.value.model;
  const look = () => {
    const failed = (/** @type {unknown} */ error) => setProblem(sentence(describeError(error).message));
    listModels({ url: location.origin, token: loadToken() }).then((found) => {
      setModels(found);
      setProblem('');
    }, failed);
    const whole = (/** @type {{digest: string, complete: boolean}[]} */ all) => all.filter(({ complete }) => complete);
    app.connection.engine.models().then((all) => setKept(whole(all).map(({ digest }) => digest)), () => {});
  };
  useEffect(look, [phase, server?.manifest.digest]);
  const loads = models.some(({ state }) => state === 'loading' || state === 'leaving');
  useEffect(() => {
    if (!loads) return undefined;
    const timer = setInterval(look, AGAIN_MS);
    return () => clearInterval(timer);
  }, [loads]);
  // A name that the server has no more must not hide that there is something to choose.
  if (models.length < 2 && chosen === null) return null;
  return (
    <section class="section" aria-labelledby="models">
      <h3 id="models">{t('Model')}</h3>
      <fieldset class="radios" aria-labelledby="models" aria-describedby="models-hint">
        {models.map((model) => (
          <Row key={model.name} model={model} chosen={chosen} here={kept.includes(model.digest ?? '')} />
        ))}
        {!models.some(({ name, first }) => (chosen === null ? first : name === chosen)) && chosen !== null && (
          <Gone name={chosen} first={models.length === 0} />
        )}
        <p class="hint" id="models-hint">
          {t('A chat goes on with the model that is chosen; its next message sends all of it. Each model’s ends come to this device once.')}
        </p>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </fieldset>
    </section>
  );
}

/** @param {{model: ServedModel, chosen: string | null, here: boolean}} props */
function Row({ model: { name, first, state, family, bytes }, chosen, here }) {
  const app = useApp();
  const facts = [
    STATES[state](),
    first && t('the server’s first'),
    family,
    bytes !== null && t('{size} on the server', { size: size(bytes) }),
    here && t('its ends are here'),
  ];
  return (
    <label>
      <input
        type="radio"
        name="model"
        checked={chosen === null ? first : chosen === name}
        disabled={app.replies.running.value !== null}
        onChange={() => void app.useModel(first ? null : name)}
      />
      <span>
        {name}
        <span class="hint block">{facts.filter(Boolean).join(' · ')}</span>
      </span>
    </label>
  );
}

/** The one that was chosen, which the server does not list. @param {{name: string, first: boolean}} props */
function Gone({ name, first }) {
  const app = useApp();
  return (
    <>
      <label>
        <input type="radio" name="model" checked />
        <span>
          {name}
          <span class="hint block">{t('Not on this server any more.')}</span>
        </span>
      </label>
      {first && (
        <label>
          <input type="radio" name="model" checked={false} onChange={() => void app.useModel(null)} />
          <span>{t('The server’s own model')}</span>
        </label>
      )}
    </>
  );
}
