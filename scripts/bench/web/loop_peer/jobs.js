// Jobs that a page asks of a worker, one message each.

/**
 * Answers messages with the job that each names.
 * @param {Record<string, Function>} jobs
 * @param {(error: any) => string} told what the page hears of an error
 */
export function answer(jobs, told = String) {
  self.onmessage = async ({ data: { job, ...options } }) => {
    try {
      self.postMessage({ result: await jobs[job](options) });
    } catch (error) {
      self.postMessage({ error: told(error) });
    }
  };
}
