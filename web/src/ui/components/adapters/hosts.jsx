// The adapters of hosts that compute on ciphertexts, to choose from; a file of its own, loaded where there are some.
import { useEffect, useState } from 'preact/hooks';
import { AUTO, placeOf, placedAt } from '../../../adapters/place.js';
import { describeError } from '../../../common/errors.js';
import { loadHostToken } from '../../../pairing/host_tokens.js';
import { hostWords } from '../../words/adapters.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Said } from '../controls/said.jsx';
import { HostAccess } from './access.jsx';

/** @typedef {import('../../../../types/gatelink').AdapterInfo} AdapterInfo */
/** @typedef {{adapters: AdapterInfo[], problem: {code: string, message: string} | null}} Found */

/** @param {{chosen: string | null, choose: (adapter: string) => void}} props */
export default function Hosts({ chosen, choose }) {
  const named = useApp().connection.phase.value.server?.hosts ?? [];
  const own = placeOf(chosen).host;
  // A chat keeps its adapter where the server has stopped naming the host.
  const shown = own === null || named.includes(own) ? named : [...named, own];
  return (
    <>
      {shown.map((host) => (
        <Host key={host} host={host} named={named.includes(host)} chosen={chosen} choose={choose} />
      ))}
      <p class="hint">
        <Said
          text={t(
            '*CKKS adapters* hide the hidden state from the adapter’s owner when that owner is not the server. This page’s own code comes from the model’s server, so this protects from the adapter’s owner alone.',
          )}
        />
      </p>
    </>
  );
}

/** @param {{host: string, named: boolean, chosen: string | null, choose: (adapter: string) => void}} props */
function Host({ host, named, chosen, choose }) {
  const app = useApp();
  const mine = placeOf(chosen).host === host;
  const [asked, setAsked] = useState(false);
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const look = () => {
    setAsked(true);
    setFound(null);
    app.connection.engine.hostedAdapters(host, loadHostToken(host)).then(
      (adapters) => setFound({ adapters, problem: null }),
      (error) => setFound({ adapters: [], problem: describeError(error) }),
    );
  };
  // Of a host that nobody chose nothing is asked before somebody wants to see what it has.
  useEffect(() => void (mine && named && look()), []);
  const all = entries(host, named, found, mine ? chosen : null);
  const id = `adapters-${host}`;
  return (
    <div class="field" role="group" aria-labelledby={id}>
      <p class="label" id={id}>
        {t('Adapters of {host}, encrypted', { host: hostWords(host) })}
      </p>
      {all.length > 0 && (
        <div class="radios">
          {all.map(({ key, name, description }) => (
            <label key={key}>
              <input
                type="radio"
                name="adapter"
                checked={chosen === key}
                disabled={app.elsewhere.writing.value}
                onChange={() => choose(key)}
              />
              <span>
                {name}
                <span class="hint block">{description}</span>
              </span>
            </label>
          ))}
        </div>
      )}
      {found?.problem && (
        <p class="problem" role="alert">
          {sentence(found.problem.message)}
        </p>
      )}
      {named && asked && !found && <p class="hint" role="status">{t('Asking the host…')}</p>}
      {found?.problem === null && !found.adapters.length && <p class="hint">{t('It has none for this model.')}</p>}
      {named && (!asked || found?.problem) && (
        <div class="row">
          <button type="button" class="button" onClick={look}>
            {asked ? t('Ask again') : t('Show its adapters')}
          </button>
        </div>
      )}
      {found && <HostAccess host={host} wanted={found.problem?.code === 'adapter_host_unauthorized'} onChange={look} />}
    </div>
  );
}

/**
 * @param {string} host @param {boolean} named @param {Found | null} found
 * @param {string | null} chosen which of them is, null: none
 */
function entries(host, named, found, chosen) {
  const byWords = t('By the words of each message, chosen on this device.');
  const auto = { key: placedAt(AUTO, host), name: t('Auto'), description: byWords };
  const listed = (found?.adapters ?? []).map(({ name, description }) => ({
    key: placedAt(name, host),
    name,
    description,
  }));
  const all = listed.length ? [auto, ...listed] : [];
  if (chosen === null || all.some(({ key }) => key === chosen)) return all;
  const lost = !named || (found !== null && found.problem === null);
  const notHere = t('Not on this server: there is no reply until another one is chosen.');
  const name = placeOf(chosen).name ?? '';
  return [...all, { key: chosen, name: name === AUTO ? t('Auto') : name, description: lost ? notHere : '' }];
}
