// Compiles one package: every src/**/*.ts(x) but tests becomes dist/**/*.js with a source map, and benchmarks beside
// it, bench/**/*.ts, become dist/bench/**/*.js. Types are checked once for the whole repository (`pnpm typecheck`), so
// this step is only a fast syntax transform. Decorator metadata is kept because NestJS reads it at run time.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { swcOptions } from './typescript/swc-options.mjs';

const packageDir = process.cwd();
const outputDir = path.join(packageDir, 'dist');
/** Folder of the new output. It takes the old one's place at the end, because running processes load modules late. */
const newOutputDir = path.join(packageDir, `.dist-${process.pid}`);

/** Folders of sources, and where in the new output each goes. */
const FOLDERS = [
  { from: path.join(packageDir, 'src'), to: newOutputDir },
  { from: path.join(packageDir, 'bench'), to: path.join(newOutputDir, 'bench') },
];

export const isSource = (name) => /\.tsx?$/.test(name) && !/\.(test|d)\.tsx?$/.test(name);

function listSources(directory) {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

async function compile(file, output) {
  const options = { ...swcOptions({ tsx: file.endsWith('.tsx') }), sourceMaps: true };
  const { code, map } = await transformFile(file, options);
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.writeFileSync(output, `${code}\n//# sourceMappingURL=${path.basename(output)}.map\n`);
  fs.writeFileSync(`${output}.map`, map ?? '');
}

const compiledName = (file) => file.replace(/\.tsx?$/, '.js');

/** Compiles one source of a package into its dist, or removes what was compiled of a source that is gone. */
export async function compileFile(directory, file) {
  const source = path.join(directory, 'src', file);
  const output = path.join(directory, 'dist', compiledName(file));
  if (fs.existsSync(source)) return compile(source, output);
  fs.rmSync(output, { force: true });
  fs.rmSync(`${output}.map`, { force: true });
}

async function compilePackage() {
  fs.mkdirSync(newOutputDir, { recursive: true });
  try {
    const folders = FOLDERS.filter(({ from }) => fs.existsSync(from));
    const sources = folders.flatMap(({ from, to }) => listSources(from).map((file) => ({ from, to, file })));
    await Promise.all(
      sources.map(({ from, to, file }) =>
        compile(file, path.join(to, compiledName(path.relative(from, file)))),
      ),
    );
    const oldOutputDir = `${newOutputDir}-old`;
    if (fs.existsSync(outputDir)) fs.renameSync(outputDir, oldOutputDir);
    fs.renameSync(newOutputDir, outputDir);
    fs.rmSync(oldOutputDir, { recursive: true, force: true });
  } finally {
    fs.rmSync(newOutputDir, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await compilePackage();
