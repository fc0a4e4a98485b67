/** Source files of the repository, with their text; what is generated or built is left out. */
import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './run-tool.js';

const SKIPPED = new Set(['node_modules', 'dist', 'generated', '.next', '.simulation', '.turbo']);
const SOURCE = /\.(ts|tsx|mjs)$/;

export type SourceFile = {
  /** Path below the repository. */
  readonly at: string;
  readonly text: string;
};

export function sourceFiles(roots: readonly string[]): SourceFile[] {
  return roots
    .map((root) => path.join(repositoryRoot, root))
    .filter((folder) => fs.existsSync(folder))
    .flatMap(sourcesIn)
    .map((file) => ({ at: path.relative(repositoryRoot, file), text: fs.readFileSync(file, 'utf8') }));
}

function sourcesIn(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(at);
    return SOURCE.test(entry.name) ? [at] : [];
  });
}
