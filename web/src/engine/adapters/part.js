// What the first adapter of a host needs.
export { AdapterHostNotNamed } from '../../crypto/errors.js';
export { HostedAdapters } from '../../crypto/hosted.js';
export { correcting } from '../../crypto/correcting.js';
