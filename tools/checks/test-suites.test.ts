/**
 * Check of test suites: a suite shows its first test within a screen, a title says what is expected, a suite that starts built processes
 * belongs to the project that is built first, and only searches are left to the night.
 */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { repositoryRoot } from './run-tool.js';

const ROOTS = ['apps', 'packages', 'tools'];
const SKIPPED = new Set(['node_modules', 'dist', 'generated', '.next', '.simulation', '.turbo']);
/** Lines between the imports and the first test: what is longer goes below the tests, beside the suite, or to testkit. */
const SET_UP_LINES_MAX = 55;
const TITLE_WORDS_MIN = 3;
/** Where suites that start built processes stand, as jest.config.mjs has it. */
const BUILT = /\/test\/built\/|^apps\/(agent|local)\/test\//;
/** Ways to start what is built: an address of dist, the CLI's program, a stack or a cluster of processes. */
const STARTS_BUILT =
  /(?:new URL|resolve)\([^)]*\bdist\/|repositoryRoot\}?[^'"`]*\/dist\/|bin\/holdfast\.mjs|\b(?:LocalStack|TestCluster|ConsoleVisit)\.\w+\(/;
/** First words of a suite that CI leaves to the night: whatever else is named so would prove its rule to no one who merges. */
const SEARCH = /^\/\*\*[\s*]+A search for the night\b/;
/** Names come from the recorded vectors there. */
const TITLES_OF_VECTORS = [
  'packages/core/src/scheduling/conformance/',
  'packages/core/test/conformance.test.ts',
];

type Suite = { readonly file: string; readonly text: string };
type Title = { readonly at: string; readonly text: string };

const suites = ROOTS.flatMap((root) => suitesIn(path.join(repositoryRoot, root))).map((file) => ({
  file: path.relative(repositoryRoot, file),
  text: fs.readFileSync(file, 'utf8'),
}));

describe('a planted suite', () => {
  const planted = (text: string): Suite => ({ file: 'door.test.ts', text });

  test('with a long set-up is measured from its imports to its first test', () => {
    const setUp = 'const key = 1;\n'.repeat(SET_UP_LINES_MAX + 1);
    const suite = planted(`import { test } from '@jest/globals';\n${setUp}test('a door opens', () => {});\n`);
    expect(setUpLines(suite)).toBe(SET_UP_LINES_MAX + 1);
  });

  test('with short titles has each of them found, of tables too', () => {
    const suite = planted(`
      test('opens', () => {});
      test('a door with a key opens', () => {});
      test.each([{ name: 'a lock' }, { name: 'a lock keeps it shut' }])('$name', () => {});
      test.each([1, 2])('opens %i', () => {});
    `);
    expect(titlesOf(suite).filter(isTooShort)).toEqual([
      { at: 'door.test.ts:2', text: 'opens' },
      { at: 'door.test.ts:4', text: 'a lock' },
      { at: 'door.test.ts:5', text: 'opens %i' },
      { at: 'door.test.ts:5', text: 'opens %i' },
    ]);
  });
});

test('a planted suite that starts a built process, itself or by a file beside it, is found', () => {
  // In two parts, so that this suite is not found itself.
  const starts = `spawn(process.execPath, [fileURLToPath(new URL('../${'dist'}/main.js', import.meta.url))]);`;
  expect(STARTS_BUILT.test(starts)).toBe(true);
  expect(STARTS_BUILT.test("import Ajv from 'ajv/dist/2020.js';")).toBe(false);
  const read = (file: string) => (file === 'apps/door/test/helper.ts' ? starts : '');
  const text = "import { open } from './helper.js';";
  expect(startsBuilt({ file: 'apps/door/test/door.test.ts', text }, read)).toBe(true);
});

test('suites that start built processes are in the project that is built first', () => {
  const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8');
  const misplaced = suites.filter((suite) => !BUILT.test(suite.file) && startsBuilt(suite, read));
  expect(misplaced.map(({ file }) => file)).toEqual([]);
});

test('what only a night runs says that it is a search, and each night runs it', () => {
  const forNight = suites.filter(({ file }) => file.endsWith('.night.test.ts'));
  expect(forNight.filter(({ text }) => !SEARCH.test(text)).map(({ file }) => file)).toEqual([]);
  const nightly = fs.readFileSync(path.join(repositoryRoot, '.github/workflows/nightly.yml'), 'utf8');
  expect(nightly).toContain('run: npm test -- night.test\n');
});

test('no suite keeps its reader from its first test for more than a screen', () => {
  const long = suites
    .map((suite) => ({ file: suite.file, lines: setUpLines(suite) }))
    .filter(({ lines }) => lines > SET_UP_LINES_MAX);
  expect(long).toEqual([]);
});

test('titles have as many words as a statement needs', () => {
  const short = suites
    .filter(({ file }) => !TITLES_OF_VECTORS.some((prefix) => file.startsWith(prefix)))
    .flatMap(titlesOf)
    .filter(isTooShort)
    .map(({ at, text }) => `${at} ${text}`);
  expect([...new Set(short)]).toEqual([]);
});

function suitesIn(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return suitesIn(at);
    return /\.test\.tsx?$/.test(entry.name) ? [at] : [];
  });
}

/** Whether a suite, or a helper of tests that it imports by a relative path, starts what is built. */
function startsBuilt({ file, text }: Suite, read: (file: string) => string): boolean {
  if (STARTS_BUILT.test(text)) return true;
  const imported = [...text.matchAll(/from '(\.[^']*)\.js'/g)].map(([, to = '']) =>
    path.join(path.dirname(file), `${to}.ts`),
  );
  return imported
    .filter((helper) => /\/test\//.test(helper))
    .some((helper) => startsBuilt({ file: helper, text: read(helper) }, read));
}

function parse({ file, text }: Suite): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

/** Lines between the last import and the first test. */
function setUpLines(suite: Suite): number {
  const source = parse(suite);
  const lastImport = source.statements.filter(ts.isImportDeclaration).at(-1);
  const first = source.statements.find((one) => isTest(one, source));
  const begin = lastImport === undefined ? 0 : lineOf(source, lastImport.end);
  const end = first === undefined ? source.getLineStarts().length : lineOf(source, first.getStart(source));
  return Math.max(0, end - begin - 1);
}

/** A statement that declares tests: neither a declaration nor what runs before or after them. */
function isTest(statement: ts.Statement, source: ts.SourceFile): boolean {
  const text = statement.getText(source);
  const isDeclaration = ts.isDeclarationStatement(statement) || ts.isVariableStatement(statement);
  return !isDeclaration && /\b(test|describe)/.test(text) && !/^(before|after)(All|Each)\b/.test(text);
}

/** Titles of tests, those of a table with what its rows say literally. */
function titlesOf(suite: Suite): Title[] {
  const source = parse(suite);
  const found: Title[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const at = `${suite.file}:${lineOf(source, node.arguments[0]?.getStart(source) ?? node.end)}`;
      for (const text of titlesOfCall(node)) found.push({ at, text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function titlesOfCall({ expression, arguments: [title] }: ts.CallExpression): string[] {
  if (title === undefined || !isText(title)) return [];
  const text = textOf(title);
  if (ts.isIdentifier(expression)) return expression.text === 'test' ? [text] : [];
  if (!ts.isCallExpression(expression) || !/^test\.each\b/.test(expression.getText())) return [];
  const [table] = expression.arguments;
  if (table === undefined || !ts.isArrayLiteralExpression(table)) return [text];
  const rows = table.elements.filter((row) => !ts.isSpreadElement(row));
  return rows.map((row) => inRow(text, row));
}

/** The title of one row. What is not literal there stays the name of its field. */
function inRow(title: string, row: ts.Expression): string {
  if (!ts.isObjectLiteralExpression(row)) return title;
  return title.replaceAll(/\$(\w+)/g, (field, name: string) => {
    const found = row.properties.find((one) => one.name?.getText() === name);
    const isLiteral = found !== undefined && ts.isPropertyAssignment(found) && isText(found.initializer);
    return isLiteral ? textOf(found.initializer) : field;
  });
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function textOf(node: ts.Expression): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText().slice(1, -1);
}

function isTooShort({ text }: Title): boolean {
  return text.split(/\s+/).filter((word) => /[\w$%]/.test(word)).length < TITLE_WORDS_MIN;
}
