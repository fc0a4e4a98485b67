/** Check of what README and the pages that it leads to say in numbers and names of the repository: nothing else fails when it is out of date. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from './run-tool.js';

const textOf = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8');
const readme = textOf('README.md');
/** It is read in one go: what is longer goes to a page of docs. */
const README_BYTES_MAX = 12 * 1024;

function namesIn(folder: string): string[] {
  return fs.readdirSync(path.join(repositoryRoot, folder));
}

test('README is short', () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(README_BYTES_MAX);
});

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'packages/core/src/scheduling/README.md',
  'packages/data-engine/README.md',
  ...['docs', 'docs/design', 'docs/adr'].flatMap(pagesIn),
];

test.each(PAGES)('%s links to what there is, headings too', (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)|(?:href|src|srcset)="([^"]+)"/g)]
    .map(([, link = '', attribute = '']) => link || attribute)
    .filter((link) => !/^[a-z]+:/.test(link));
  const missing = links.filter((link) => {
    const [file = '', heading] = link.split('#');
    const target = path.join(path.dirname(page), file || path.basename(page));
    if (!fs.existsSync(path.join(repositoryRoot, target))) return true;
    return heading !== undefined && !headingsOf(textOf(target)).includes(heading);
  });
  expect(missing).toEqual([]);
});

function pagesIn(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

/** As GitHub makes anchors of headings. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every benchmark is named where README says how to measure', () => {
  const [, list = ''] = /bench -- schedule` \| measures \(([^;]*);/.exec(readme) ?? [];
  const named = [...list.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
  const there = namesIn('tools/bench/src').flatMap((file) => /^(.*)\.bench\.ts$/.exec(file)?.[1] ?? []);
  expect(named.toSorted()).toEqual(there.toSorted());
});

test('a first start applies as many migrations as there are', () => {
  const migrations = namesIn('packages/database/prisma/migrations').filter((name) => /^\d{14}_/.test(name));
  expect(textOf('docs/deployment.md')).toContain(`${migrations.length} migrations applied`);
});

test('every picture of the console is shown, and every one that is shown is there', () => {
  const there = namesIn('docs/images');
  const shown = [...textOf('docs/console.md').matchAll(/images\/([\w-]+\.png)/g)].map(([, name]) => name);
  expect([...new Set(shown)].toSorted()).toEqual(there.toSorted());
  const pages = new Set(there.map((name) => name.replace(/-(desk|phone)-(light|dark)\.png$/, '')));
  expect(there).toHaveLength(pages.size * 4);
  expect(pages.size).toBeGreaterThanOrEqual(15);
});
