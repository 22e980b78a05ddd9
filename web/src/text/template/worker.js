// The worker that renders a chat template; the page's side may kill it at any time.
//
// A request is {source, variables}: the template with the first one, null later, and its variables
// as JSON. Each is answered by {text}, {failed} or {too_costly}.
import { answerTo, Template } from './renderer.js';

/** @type {Template | null} */
let template = null;

self.onmessage = (/** @type {MessageEvent<{source: string | null, variables: string}>} */ event) => {
  const { source, variables } = event.data;
  const answer = answerTo(() => {
    if (source !== null) template = new Template(source);
    if (!template) throw new Error('there is no template');
    return template.render(JSON.parse(variables));
  });
  self.postMessage(answer);
};
