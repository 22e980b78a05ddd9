import { Said } from '../controls/said.jsx';
import { NoiseStatus } from './status.jsx';
import { t } from '../../words/languages/words.js';

/** What the server can learn of a chat that is sent with noise. */
export function NoiseSeen() {
  return (
    <>
      <p>
        <Said
        text={t(
          'This chat is in *noised* mode: its rows leave with noise. That gives the displayed (epsilon, delta), for one token and for the whole conversation, and nothing more; split-client audit measures how many tokens its attacks recover at this noise, and better attacks recover more. What is sent again behind an edit has other noise, which the server can average.',
        )}
      />
      </p>
      <NoiseStatus />
      <p>
        {t(
          'Not hidden: the reply, whose states the server computes; the number of tokens, when they are sent, where a text begins to differ from an earlier one, the name of an adapter, requests for attention. The totals are no promise made in advance; a budget is one, for what this chat sends and as long as it is not raised.',
        )}
      </p>
      <p>
        {t(
          'This page’s own code comes from the server; one that is not honest could leave the noise out. The secret key of this chat’s noise and the record of what was sent lie in this browser until the chat is deleted: a page that this server serves later can read the key and take the noise off what the server has kept. Whoever clears the browser’s data begins to count at nothing, but the server does not forget.',
        )}
      </p>
    </>
  );
}
