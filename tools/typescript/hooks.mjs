// Module hooks of Node that load TypeScript sources without a build: an import of a .js file leads to the .ts file where only that exists, and a .ts file is
// compiled by SWC when it is loaded. Types are not checked. Registered by register.mjs.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { swcOptions } from './swc-options.mjs';

const SOURCE = /\.tsx?$/;

/** Resolves relative imports as TypeScript does, and everything else as Node does. */
export async function resolve(specifier, context, nextResolve) {
  if (/^\.{0,2}\/.*\.js$/.test(specifier) && context.parentURL?.startsWith('file:')) {
    for (const extension of ['.ts', '.tsx']) {
      const url = new URL(specifier.replace(/\.js$/, extension), context.parentURL);
      if (fs.existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
    }
  }
  const resolved = await nextResolve(specifier, context);
  return SOURCE.test(resolved.url) ? { ...resolved, format: 'module' } : resolved;
}

/** Compiles a source; its map stands in the compiled text, where `--enable-source-maps` finds it. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !SOURCE.test(url)) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const source = await fs.promises.readFile(filename, 'utf8');
  const options = { ...swcOptions({ tsx: filename.endsWith('.tsx') }), filename, sourceMaps: 'inline' };
  const { code } = await transform(source, options);
  return { format: 'module', source: code, shortCircuit: true };
}
