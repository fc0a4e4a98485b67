/** Check of comments: the documents, files and identifiers that they name exist, and they name who acts. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from './run-tool.js';
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

test('a source file that a comment names in back ticks exists', () => {
  const names = new Set([...sources.keys()].map((file) => path.basename(file)));
  const missing = comments.flatMap(({ at, text }) =>
    [...text.matchAll(/`[^`\n]*?([\w.-]+\.(?:ts|tsx|mjs))`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !names.has(name))
      .map((name) => `${at} ${name}`),
  );
  expect(missing).toEqual([]);
});

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

test('the index of decision records names each of them once, by its title', () => {
  const folder = path.join(repositoryRoot, 'docs', 'adr');
  const index = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  const listed = [...index.matchAll(/^- \[(\d{4}) (.+)\]\((.+\.md)\)$/gm)].map(
    ([, number, title, file]) => `${file}: ${number} ${title}`,
  );
  const records = fs
    .readdirSync(folder)
    .filter((file) => /^\d{4}-/.test(file))
    .map((file) => {
      const [, title = ''] =
        /^# (?:\d+\. )?(.+)$/m.exec(fs.readFileSync(path.join(folder, file), 'utf8')) ?? [];
      return `${file}: ${file.slice(0, 4)} ${title}`;
    });
  expect(listed.sort()).toEqual(records.sort());
});
