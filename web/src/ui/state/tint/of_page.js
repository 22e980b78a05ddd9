import { Tint } from './tint.js';

/** The tint of a page's conversation. @param {import('../app.js').App} app */
export function tintOf(app) {
  return new Tint({
    engine: () => app.connection.engine,
    of: (chat) => app.gate.of(chat),
    hasTemplate: () => app.connection.phase.value.server?.manifest.hasTemplate ?? true,
    kept: () => app.attention.kept.value?.node ?? null,
    cache: () => app.settings.value.server_cache,
  });
}
