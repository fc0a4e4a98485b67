/** The console's pages as a test visits them: which there are, and what goes wrong on one. */
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot } from './local-stack.js';

/** The browser notes each status of an error. These say what a page then shows: why a plan is refused, and that there is no provider. */
const ANSWERS = [
  { status: 409, of: /\?dryRun=true$/ },
  { status: 404, of: /\/sign-in-provider$/ },
];

/** Every route as its folder names it, such as `/nodes/[nodeId]`: one that is added is among them. */
export function consoleRoutes(): string[] {
  const files = fs.readdirSync(path.join(repositoryRoot, 'apps/console/app'), {
    recursive: true,
    encoding: 'utf8',
  });
  return files
    .filter((file) => path.basename(file) === 'page.tsx')
    .map((file) => `/${path.dirname(file).replace(/^\.$|\(console\)\/?/, '')}`)
    .sort();
}

/** @returns a list that grows with each error that a page writes to the browser's console, or gets from the server */
export function troublesOf(page: Page): string[] {
  const troubles: string[] = [];
  page.on('console', (message) => {
    const isAnswer = ANSWERS.some(
      ({ status, of }) => message.text().includes(` ${status} `) && of.test(message.location().url),
    );
    if (message.type() === 'error' && !isAnswer) troubles.push(`${page.url()}: ${message.text()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`${page.url()}: ${response.status()} of ${response.url()}`);
  });
  return troubles;
}
