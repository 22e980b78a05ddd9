// Few files for the first load: what a script shares with the parts that it loads on demand is one chunk.
//
// esbuild makes a chunk of every set of scripts and parts that hold the same modules, and each costs about a kB of
// headers on its way. A part that names the root of its script holds all that the script holds, so there is one set.
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/**
 * @param {string} folder that `roots` start at
 * @param {Record<string, string>} roots by the beginning of the importer's path: the module that a script has all
 *   of its own from, and that does nothing when it is read
 * @returns {import('esbuild').Plugin}
 */
export function sharedParts(folder, roots) {
  const rooms = Object.entries(roots).map(([room, root]) => [join(folder, room), join(folder, root)]);
  return {
    name: 'shared-parts',
    setup(build) {
      /** @type {Map<string, string>} */
      const parts = new Map();
      build.onResolve({ filter: /^\./ }, ({ path, kind, importer, resolveDir }) => {
        const root = rooms.find(([room]) => importer.startsWith(room))?.[1];
        if (kind !== 'dynamic-import' || !root) return undefined;
        const part = join(resolveDir, path);
        parts.set(part, root);
        return { path: part };
      });
      build.onLoad({ filter: /\.jsx?$/ }, async ({ path }) => {
        const root = parts.get(path);
        if (!root) return undefined;
        const contents = `${await readFile(path, 'utf8')}\nimport ${JSON.stringify(root)};\n`;
        return { contents, loader: extname(path) === '.jsx' ? 'jsx' : 'js' };
      });
    },
  };
}
