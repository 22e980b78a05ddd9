/** @typedef {import('../generation/loop.js').Extending} Extending */

/**
 * A sequence whose states an encrypted adapter corrects: each that a token is chosen from, once it is asked for.
 * @param {Extending} sequence @param {import('./reply.js').AdaptedReply} reply
 * @returns {Extending}
 */
export function correcting(sequence, reply) {
  return {
    eachRow: sequence.eachRow,
    get reachable() {
      return sequence.reachable ?? true;
    },
    maxContext: (options) => sequence.maxContext(options),
    extend: async (tokens, wished) => {
      const extended = await sequence.extend(tokens, wished);
      return { ...extended, hidden: await reply.correct(extended.hidden, wished.signal) };
    },
    ...(sequence.chose && { chose: (seconds) => sequence.chose?.(seconds) }),
  };
}
