// The worker that makes MathML of TeX and tells the parts of code; the page's side may kill it at any time.
//
// It is asked one job at a time and answers with its result; each of the two is loaded when it is first asked for.

/** @typedef {import('./types').Job} Job */
/** @typedef {import('./types').Result} Result */

self.onmessage = (/** @type {MessageEvent<Job>} */ { data }) => {
  void resultOf(data).then((result) => self.postMessage(result));
};

/** @param {Job} job @returns {Promise<Result>} */
async function resultOf(job) {
  try {
    if (job.kind === 'formula') return (await import('./mathml.js')).mathml(job.text, job.display);
    return (await import('./highlighted.js')).highlighted(job.text, job.lang);
  } catch {
    return null;
  }
}
