/** Check of classes: TypeScript's `private` is the one way to keep a member to its class. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { repositoryRoot } from './run-tool.js';

const ROOTS = ['apps', 'packages', 'tools'];
const SKIPPED = new Set(['node_modules', 'dist', 'generated', '.next', '.simulation', '.turbo']);

function sourcesIn(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(at);
    return /\.tsx?$/.test(entry.name) ? [at] : [];
  });
}

/** The class members of a source text whose names begin with `#`, each with its line. */
function hashMembersOf(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name)) {
      const { line } = source.getLineAndCharacterOfPosition(node.name.getStart(source));
      found.push(`${file}:${line + 1} ${node.name.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('a member that is private by its name is found', () => {
  const text =
    'class Door {\n  private lock = 1;\n  static #key = 2;\n  open() {\n    return Door.#key;\n  }\n}';
  expect(hashMembersOf('door.ts', text)).toEqual(['door.ts:3 #key']);
});

test('private members are declared with `private`', () => {
  const files = ROOTS.flatMap((root) => sourcesIn(path.join(repositoryRoot, root)));
  const texts = files.map(
    (file) => [path.relative(repositoryRoot, file), fs.readFileSync(file, 'utf8')] as const,
  );
  // Parsing all sources takes seconds; a `#` before a letter is rare.
  const found = texts
    .filter(([, text]) => /#[A-Za-z_$]/.test(text))
    .flatMap(([file, text]) => hashMembersOf(file, text));
  expect(found).toEqual([]);
});
