// Renders chat templates on request of another language. JSON on stdin: {now (ISO), jobs: [{source,
// requests: [variables]}]}; on stdout, for each job, the answers of the template worker.
import { readFileSync } from 'node:fs';
import { answerTo, Template } from '../../../src/text/template/renderer.js';

const { now, jobs } = JSON.parse(readFileSync(0, 'utf8'));
const answers = jobs.map((/** @type {any} */ { source, requests }) => {
  /** @type {Template | null} */
  let template = null;
  return requests.map((/** @type {any} */ variables) =>
    answerTo(() => (template ??= new Template(source)).render(variables, () => new Date(now))),
  );
});
process.stdout.write(JSON.stringify(answers));
