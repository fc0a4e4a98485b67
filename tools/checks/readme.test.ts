/** Check of what README says in numbers and names of the repository: it is read first, and nothing else fails when it is out of date. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from './run-tool.js';

const readme = fs.readFileSync(path.join(repositoryRoot, 'README.md'), 'utf8');

function namesIn(folder: string): string[] {
  return fs.readdirSync(path.join(repositoryRoot, folder));
}

test('every benchmark is named where it says how to measure', () => {
  const [, list = ''] = /bench -- schedule` \| measures \(([^;]*);/.exec(readme) ?? [];
  const named = [...list.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
  const there = namesIn('tools/bench/src').flatMap((file) => /^(.*)\.bench\.ts$/.exec(file)?.[1] ?? []);
  expect(named.toSorted()).toEqual(there.toSorted());
});

test('a first start applies as many migrations as there are', () => {
  const migrations = namesIn('packages/database/prisma/migrations').filter((name) => /^\d{14}_/.test(name));
  expect(readme).toContain(`${migrations.length} migrations applied`);
});

test('every picture of the console is shown, and every one that is shown is there', () => {
  const there = namesIn('docs/images');
  const shown = [...readme.matchAll(/docs\/images\/([\w-]+\.png)/g)].map(([, name]) => name);
  expect([...new Set(shown)].toSorted()).toEqual(there.toSorted());
  const pages = new Set(there.map((name) => name.replace(/-(desk|phone)-(light|dark)\.png$/, '')));
  expect(there).toHaveLength(pages.size * 4);
  expect(pages.size).toBeGreaterThanOrEqual(15);
});
