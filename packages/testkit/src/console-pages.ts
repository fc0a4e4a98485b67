/** The console's pages as a test visits them: which there are, and what goes wrong on one. */
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot } from './local-stack.js';

/** The browser logs each error status. These belong to a page's text: a refused plan, and a missing provider. */
const ANSWERS = [
  { status: 409, of: /\?dryRun=true$/ },
  { status: 404, of: /\/sign-in-provider$/ },
];

/** Every route by its folder, such as `/nodes/[nodeId]`: new ones are included. */
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
    // Containers and networks of other suites come and go meanwhile, and Chromium then ends all its requests.
    const isOfNetwork = message.text().includes('net::ERR_NETWORK_CHANGED');
    if (message.type() === 'error' && !isAnswer && !isOfNetwork)
      troubles.push(`${page.url()}: ${message.text()} ${message.location().url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`${page.url()}: ${response.status()} of ${response.url()}`);
  });
  return troubles;
}

/** A list that a page asked the API for: whatever it is sorted by and however long its pages are. */
export type AskedList = { readonly path: string; readonly filter: string };

/** @returns a list that grows with each list that the page reads: every GET with a limit in the API's description */
export function listsAskedBy(page: Page): AskedList[] {
  const lists = listPaths();
  const asked: AskedList[] = [];
  page.on('request', (request) => {
    const list = listAt(request.url());
    if (request.method() === 'GET' && lists.some((pattern) => pattern.test(list.path))) asked.push(list);
  });
  return asked;
}

/** Questions of each "Copy as" of the page's own part, read from its curl, as users read it. */
export async function listsToCopy(page: Page): Promise<AskedList[]> {
  const found: AskedList[] = [];
  for (const button of await page
    .locator('main')
    .getByRole('button', { name: /^Copy as/ })
    .all()) {
    await button.click();
    const curl = page.getByRole('button', { name: /^curl/ });
    const [url] = /https?:[^'\s]+/.exec((await curl.textContent()) ?? '') ?? [];
    if (url !== undefined) found.push(listAt(url));
    await page.keyboard.press('Escape');
    await curl.waitFor({ state: 'detached' });
  }
  return found;
}

/** A moment in a filter is another one each time that the page is drawn. */
function listAt(address: string): AskedList {
  const { pathname, searchParams } = new URL(address);
  const filter = (searchParams.get('filter') ?? '').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now');
  return { path: pathname, filter };
}

function listPaths(): RegExp[] {
  const file = path.join(repositoryRoot, 'packages/api-client/openapi.json');
  // The API's own test compares the file with its answers.
  const { paths } = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    paths: Record<string, { get?: { parameters?: { name?: string }[] } }>;
  };
  return Object.entries(paths).flatMap(([template, { get }]) =>
    get?.parameters?.some(({ name }) => name === 'limit')
      ? [new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)]
      : [],
  );
}
