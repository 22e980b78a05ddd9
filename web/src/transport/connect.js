// Making a transport of either kind for one server.
import { encodeMessage } from '../protocol/messages.js';
import { AnswerLate, ServerUnreachable } from './errors.js';
import { HttpTransport } from './http.js';
import { WebSocketTransport } from './websocket.js';

const PING = encodeMessage({ type: 'ping' });

/**
 * @param {string} url
 * @param {string | null} token
 * @param {number} maxFrame bytes of the longest answer that is accepted
 * @param {import('./routing.js').Route | null} [route] what a balancer is told, as it is when a connection is made
 * @returns {import('./transport.js').Connect}
 */
export function connector(url, token, maxFrame, route = null) {
  return async (kind, { timeout, signal }) => {
    if (kind === 'websocket') return WebSocketTransport.open({ url, token, maxFrame, timeout, signal, route });
    const transport = new HttpTransport({ url, token, maxFrame, route });
    // A request has no handshake of its own: this tells a server that is not there from one that
    // computes for long.
    try {
      await transport.exchange(PING, { timeout, signal });
    } catch (error) {
      throw error instanceof AnswerLate ? new ServerUnreachable(error.reason) : error;
    }
    return transport;
  };
}
