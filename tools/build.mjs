// Compiles one package: every src/**/*.ts(x) but tests becomes dist/**/*.js with a source map, and benchmarks beside
// it, bench/**/*.ts, become dist/bench/**/*.js. Types are checked once for the whole repository (`pnpm typecheck`), so
// this step is only a fast syntax transform. Decorator metadata is kept because NestJS reads it at run time.
import fs from 'node:fs';
import path from 'node:path';
import { transformFile } from '@swc/core';

const packageDir = process.cwd();
const outputDir = path.join(packageDir, 'dist');
/** Folder of the new output. It takes the old one's place at the end, because running processes load modules late. */
const newOutputDir = path.join(packageDir, `.dist-${process.pid}`);

/** Folders of sources, and where in the new output each goes. */
const FOLDERS = [
  { from: path.join(packageDir, 'src'), to: newOutputDir },
  { from: path.join(packageDir, 'bench'), to: path.join(newOutputDir, 'bench') },
];

/** Compiler options of every file; tests use the same ones through tools/jest. */
const swcOptions = {
  jsc: {
    parser: { syntax: 'typescript', tsx: true, decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, react: { runtime: 'automatic' } },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: true,
};

const isSource = (name) => /\.tsx?$/.test(name) && !/\.(test|d)\.tsx?$/.test(name);

function listSources(directory) {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

async function compile(file, { from, to }) {
  const output = path.join(to, path.relative(from, file)).replace(/\.tsx?$/, '.js');
  const tsx = file.endsWith('.tsx');
  const options = { ...swcOptions, jsc: { ...swcOptions.jsc, parser: { ...swcOptions.jsc.parser, tsx } } };
  const { code, map } = await transformFile(file, options);
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.writeFileSync(output, `${code}\n//# sourceMappingURL=${path.basename(output)}.map\n`);
  fs.writeFileSync(`${output}.map`, map ?? '');
}

fs.mkdirSync(newOutputDir, { recursive: true });
try {
  await Promise.all(
    FOLDERS.filter(({ from }) => fs.existsSync(from)).flatMap((folder) =>
      listSources(folder.from).map((file) => compile(file, folder)),
    ),
  );
  const oldOutputDir = `${newOutputDir}-old`;
  if (fs.existsSync(outputDir)) fs.renameSync(outputDir, oldOutputDir);
  fs.renameSync(newOutputDir, outputDir);
  fs.rmSync(oldOutputDir, { recursive: true, force: true });
} finally {
  fs.rmSync(newOutputDir, { recursive: true, force: true });
}
