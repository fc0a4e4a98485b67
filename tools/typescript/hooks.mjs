// Module hooks of Node that load TypeScript sources without a build: an import of a .js file leads to the .ts file where only that exists, and a .ts file is
// compiled by SWC when it is loaded. Types are not checked. Registered by register.mjs.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { swcOptions } from './swc-options.mjs';

const SOURCE = /\.tsx?(\?|$)/;
/** What suites of Jest import as '@jest/globals': see there. */
const JEST_GLOBALS = new URL('../jest/globals.mjs', import.meta.url).href;
/** Compiled sources, as dozens of processes of one run of the tests load the same ones. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/holdfast-sources/', import.meta.url));
const OPTIONS = JSON.stringify(swcOptions());

/** Resolves relative imports as TypeScript does, and everything else as Node does. */
export async function resolve(specifier, context, nextResolve) {
  if (specifier === '@jest/globals') return { url: JEST_GLOBALS, format: 'module', shortCircuit: true };
  // The console imports its own modules without an extension, as its bundler does.
  if (/^\.{0,2}\/(.*\/)?([^/]*\.js|[^./]+)$/.test(specifier) && context.parentURL?.startsWith('file:')) {
    for (const extension of ['.ts', '.tsx']) {
      const url = new URL(specifier.replace(/(\.js)?$/, extension), context.parentURL);
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
  const source = fs.readFileSync(filename, 'utf8');
  const stamp = `\n// ${sha256(OPTIONS + source)}`;
  const kept = path.join(COMPILED, sha256(filename));
  const known = readKept(kept);
  if (known?.endsWith(stamp)) return { format: 'module', source: known, shortCircuit: true };
  const options = { ...swcOptions({ tsx: filename.endsWith('.tsx') }), filename, sourceMaps: 'inline' };
  const { transform } = await import('@swc/core');
  const { code } = await transform(source, options);
  keep(kept, code + stamp);
  return { format: 'module', source: code, shortCircuit: true };
}

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

function readKept(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** One file for each source, replaced whole: processes that start together compile the same ones. */
function keep(file, text) {
  fs.mkdirSync(COMPILED, { recursive: true });
  const partial = `${file}.${process.pid}.${threadId}`;
  fs.writeFileSync(partial, text);
  fs.renameSync(partial, file);
}
