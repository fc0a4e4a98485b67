/** Pairs of folders that import each other: two rooms without a wall between them. */
import path from 'node:path';
import type { SourceFile } from './source-files.js';

const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

/** @param sources paths and texts of the files that ship; tests may import whatever they test */
export function folderPairs(sources: readonly SourceFile[]): string[] {
  const files = new Set(sources.map(({ at }) => at));
  const arrows = new Map<string, string>();
  for (const { at, text } of sources) {
    for (const [, specifier = ''] of text.matchAll(IMPORT)) {
      const found = resolved(path.join(path.dirname(at), specifier), files);
      if (found === undefined || isEntry(at) || isEntry(found)) continue;
      const arrow = [path.dirname(at), path.dirname(found)].join(' → ');
      if (!arrows.has(arrow)) arrows.set(arrow, `${at} → ${found}`);
    }
  }
  return [...arrows.keys()].flatMap((arrow) => {
    const [from = '', to = ''] = arrow.split(' → ');
    const back = arrows.get(`${to} → ${from}`);
    return from < to && back !== undefined ? [`${arrows.get(arrow)} and ${back}`] : [];
  });
}

/** Imports name compiled files, whose sources are there. */
function resolved(file: string, files: ReadonlySet<string>): string | undefined {
  const stem = file.replace(/\.js$/, '');
  return [file, `${stem}.ts`, `${stem}.tsx`].find((one) => files.has(one));
}

/** Where a package's entry stands: it composes all others, and holds what they share. */
function isEntry(file: string): boolean {
  return /^(apps|packages)\/[^/]+\/src\/[^/]+$/.test(file);
}
