/** Check of comments: the documents, files and identifiers that they name exist, and they name who acts. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot, trackedFiles } from './run-tool.js';
import { sourceFiles } from './source-files.js';

const ROOTS = ['apps', 'packages', 'tools'];
type Comment = { readonly at: string; readonly text: string };

const sources = new Map(sourceFiles(ROOTS).map(({ at, text }) => [at, text]));
const comments = [...sources].flatMap(([file, text]) => commentsOf(file, text));

/** Comments of a source text. Text in a string that only looks like a comment counts too, and does no harm. */
function commentsOf(file: string, text: string): Comment[] {
  const found = text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g);
  return [...found].map((match) => ({
    at: `${file}:${text.slice(0, match.index).split('\n').length}`,
    text: match[0],
  }));
}

/** The source text without comments, because what a comment names has to be in the code itself. */
function codeOf(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, '');
}

test('a document that a comment names is in this repository', () => {
  const missing = comments.flatMap(({ at, text }) =>
    [...text.matchAll(/\b((?:[\w-]+\/)*[\w-]+\.md)\b/g)]
      .map(([, name = '']) => name)
      .filter((name) => !exists(name, at))
      .map((name) => `${at} ${name}`),
  );
  const sections = comments.filter(({ text }) =>
    /\b(DESIGN|CONTRACT|STYLE)\b|scheduler-spec|behaviour notes/.test(text),
  );
  expect([...missing, ...sections.map(({ at }) => at)]).toEqual([]);
});

function exists(name: string, at: string): boolean {
  const beside = path.dirname(at.slice(0, at.lastIndexOf(':')));
  return [name, path.join('docs', name), path.join(beside, name)].some((file) =>
    fs.existsSync(path.join(repositoryRoot, file)),
  );
}

test('a source file that a comment names in back ticks exists, in the folder that it is named with', () => {
  const missing = comments.flatMap(({ at, text }) =>
    [...text.matchAll(/`[^`\n]*?((?:[\w.@()[\]-]+\/)*[\w.-]+\.(?:ts|tsx|mjs))`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !isSource(name, [...sources.keys()]))
      .map((name) => `${at} ${name}`),
  );
  expect(missing).toEqual([]);
});

test('a file that has moved to another folder is not found under its old path', () => {
  const files = ['packages/core/src/admission/plan-admissions.ts'];
  expect(isSource('admission/plan-admissions.ts', files)).toBe(true);
  expect(isSource('core/admission/plan-admissions.ts', files)).toBe(true);
  expect(isSource('rebuild/plan-admissions.ts', files)).toBe(false);
  expect(isSource('core/rebuild/plan-admissions.ts', files)).toBe(false);
});

/** A path in a comment may leave out folders at its beginning, and `packages`, `apps` and `src`, as the imports between packages do. */
function isSource(name: string, files: readonly string[]): boolean {
  return files.some((file) => file.endsWith(`/${name}`) || file === name || asImported(file) === name);
}

/** `packages/core/src/model/ids.ts` is `core/model/ids.ts`. */
function asImported(file: string): string {
  return file.replace(/^(?:packages|apps)\//, '').replace('/src/', '/');
}

test('an identifier that a comment names in back ticks is one in the code', () => {
  const words = new Set(
    [...sources.values()].flatMap((text) => codeOf(text).match(/[A-Za-z_$][\w$]*/g) ?? []),
  );
  const missing = comments.flatMap(({ at, text }) =>
    [...text.matchAll(/`([a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?:\(\))?`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !words.has(name))
      .map((name) => `${at} ${name}`),
  );
  expect(missing).toEqual([]);
});

/** Words that stand for an actor without naming it. In back ticks they are names, such as that of a user of the system. */
const UNNAMED = /(?<!`)\b(somebody|someone|nobody|anybody|anyone|by itself|by themselves)\b/i;

test('a comment names who acts', () => {
  expect(UNNAMED.test('// Somebody ends it.')).toBe(true);
  expect(UNNAMED.test('// Runs as `nobody`.')).toBe(false);
  expect(comments.filter(({ text }) => UNNAMED.test(text)).map(({ at }) => at)).toEqual([]);
});

/** Texts of the repository that refer to decisions: sources, SQL, Prisma's schema, settings of tools, pages. */
function referringFiles(): { at: string; text: string }[] {
  return trackedFiles()
    .filter((file) => !/\.(?:png|gz|json|svg|ico)$/.test(file) && file !== 'tools/checks/comments.test.ts')
    .map((file) => ({ at: file, text: fs.readFileSync(path.join(repositoryRoot, file), 'utf8') }));
}

test('a decision that a source or page refers to exists, under the name that it is given', () => {
  const records = decisionFiles();
  const missing = referringFiles().flatMap(({ at, text }) =>
    [...text.matchAll(/\bADR (\d+)\b|\badr\/(\d{4}[\w-]*)(\.md)?/g)]
      .map(([, number, name, ending]) => ({ number, name, ending }))
      .filter(({ number, name, ending }) =>
        ending === undefined
          ? !records.some((file) => file.startsWith((number ?? name ?? '').padStart(4, '0')))
          : !records.includes(`${name}.md`),
      )
      .map(({ number, name }) => `${at} ${number ?? name}`),
  );
  expect(missing).toEqual([]);
});

test('a page of the handbook that a source or page refers to exists', () => {
  const pages = fs.readdirSync(path.join(repositoryRoot, 'docs', 'design'));
  const missing = referringFiles().flatMap(({ at, text }) =>
    [...text.matchAll(/\bdesign\/([\w-]+\.md)/g)]
      .map(([, name = '']) => name)
      .filter((name) => !pages.includes(name))
      .map((name) => `${at} ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the contents of the handbook name each of its pages once', () => {
  const folder = path.join(repositoryRoot, 'docs', 'design');
  const contents = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  const listed = [...contents.matchAll(/^\| \[(.+)\]\((.+\.md)\) \|/gm)].map(
    ([, title, file]) => `${file}: ${title}`,
  );
  const pages = fs
    .readdirSync(folder)
    .filter((file) => file !== 'README.md')
    .map((file) => `${file}: ${titleOf(path.join(folder, file))}`);
  expect(listed.sort()).toEqual(pages.sort());
});

/** Each record is read in minutes, and so is their index, as long as they are few. */
const DECISIONS_MAX = 80;

function decisionFiles(): string[] {
  const folder = path.join(repositoryRoot, 'docs', 'adr');
  return fs.readdirSync(folder).filter((file) => /^\d{4}-/.test(file));
}

function titleOf(file: string): string {
  return /^# (?:\d+\. )?(.+)$/m.exec(fs.readFileSync(file, 'utf8'))?.[1] ?? '';
}

test('the index of decisions names each of them once, by its title, and they are few', () => {
  const folder = path.join(repositoryRoot, 'docs', 'adr');
  const index = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  const listed = [...index.matchAll(/^- \[(\d{4}) (.+)\]\((.+\.md)\)$/gm)].map(
    ([, number, title, file]) => `${file}: ${number} ${title}`,
  );
  const records = decisionFiles().map(
    (file) => `${file}: ${file.slice(0, 4)} ${titleOf(path.join(folder, file))}`,
  );
  expect(listed.sort()).toEqual(records.sort());
  expect(records.length).toBeLessThanOrEqual(DECISIONS_MAX);
});
