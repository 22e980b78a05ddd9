import { ELSEWHERE } from '../../words/explain.js';
import { useApp } from '../context.jsx';

/** Stands where a reply is missing: why, and how to get one. @param {{leaf: string}} props */
export function Unanswered({ leaf }) {
  const app = useApp();
  const failure = app.replies.failure.value;
  const why = failure?.leaf === leaf && failure.chat === app.library.chat.value.id ? failure.message : null;
  if (app.elsewhere.writing.value) {
    return (
      <div class="message">
        <p class="ended">{ELSEWHERE}</p>
      </div>
    );
  }
  const final = why !== null && app.unanswerable();
  return (
    <div class="message">
      {why && <p class="ended failed">No reply: {why}</p>}
      <div class="row">
        <button
          type="button"
          class="button"
          disabled={app.hindrance.value !== null}
          onClick={() => (final ? (app.editing.value = leaf) : app.regenerate(null))}
        >
          {final ? 'Edit the message' : why ? 'Try again' : 'Get a reply'}
        </button>
      </div>
    </div>
  );
}
