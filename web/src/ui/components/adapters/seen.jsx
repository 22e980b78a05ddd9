// What an adapter host sees, in words that claim no more than is so (docs/privacy.md); loaded where a chat uses one.
import { placeOf } from '../../../adapters/place.js';
import { hostWords } from '../../words/adapters.js';
import { size } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Said } from '../controls/said.jsx';
import { HostAccess } from './access.jsx';

export default function HostSeen() {
  const app = useApp();
  const { host } = placeOf(app.library.chat.value.adapter);
  const traffic = app.traffic.stats.value?.hosts ?? { sent: 0, received: 0 };
  if (host === null) return <></>;
  const travelled = { sent: size(traffic.sent), received: size(traffic.received) };
  return (
    <section class="section words" aria-labelledby="host-seen">
      <h3 id="host-seen">{t('What the adapter host sees')}</h3>
      <p>
        {t(
          '{host} sees ciphertexts under keys that each reply has of its own, a public key, which adapter, your token’s name, how many tokens and when; no hidden state, text or token. The model’s server is not told that there is an adapter.',
          { host: hostWords(host) },
        )}
      </p>
      <p>
        <Said
          text={t(
            '*CKKS adapters* hide the hidden state from the adapter’s owner when that owner is not the server. This page’s own code comes from the model’s server, so this protects from the adapter’s owner alone.',
          )}
        />
      </p>
      <p>{t('Up {sent}, down {received}, since this page connected.', travelled)}</p>
      <HostAccess host={host} wanted={false} onChange={() => (app.sheet.value = 'settings')} />
    </section>
  );
}
