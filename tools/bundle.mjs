// Bundles a command line: src/main.ts and all that it imports, of packages of this repository and of npm, become dist/main.js and
// one file for each part that is loaded on demand. A program that runs for a tenth of a second would else spend most of it finding
// and reading hundreds of small modules.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const packageDir = process.cwd();
const outputDir = path.join(packageDir, 'dist');
const newOutputDir = path.join(packageDir, `.dist-${process.pid}`);

/** These find files beside themselves, such as migrations and threads, and are loaded from their own package when they are needed. */
const NOT_BUNDLED = ['@holdfast/backup', '@holdfast/database'];

/** Packages of npm that are no ES modules ask for Node's own by `require`, which an ES module does not have. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

try {
  await build({
    entryPoints: [path.join(packageDir, 'src', 'main.ts')],
    outdir: newOutputDir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['holdfast-source'],
    external: NOT_BUNDLED,
    banner: { js: REQUIRE },
    // Less to read at each start. Names stay, so that a class or a function is found in an error's stack.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    logLevel: 'warning',
  });
  const oldOutputDir = `${newOutputDir}-old`;
  // Files have their content's hash in their names, so a program that runs meanwhile misses those that it has not loaded yet: it ends
  // with an error, and no two builds are ever mixed.
  if (fs.existsSync(outputDir)) fs.renameSync(outputDir, oldOutputDir);
  fs.renameSync(newOutputDir, outputDir);
  fs.rmSync(oldOutputDir, { recursive: true, force: true });
} finally {
  fs.rmSync(newOutputDir, { recursive: true, force: true });
}
