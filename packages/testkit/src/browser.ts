import { spawnSync } from 'node:child_process';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserServer, chromium, type Page } from 'playwright-core';

/** Of Debian's and of others' packages. A browser is never downloaded. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export function findBrowser(): string | undefined {
  for (const name of NAMES) {
    const found = spawnSync('which', [name], { encoding: 'utf8' });
    if (found.status === 0) return found.stdout.trim();
  }
  return undefined;
}

/** As root there is no sandbox; the other flags keep the browser from calling home. */
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A browser that several processes connect to. @param executablePath `undefined` where the machine has none */
export function startBrowserServer(executablePath: string | undefined): Promise<BrowserServer> {
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
  return chromium.launchServer({ executablePath, args: FLAGS });
}

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Rules that axe leaves out of those tags: labels that contain their visible words, and header cells without a name. */
const FURTHER = ['label-content-name-mismatch', 'empty-table-header'];
/** Rules of those tags that ask for colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Findings of axe against WCAG 2.2 AA, one line each: empty when the page is accessible as far as a tool can tell.
 *
 * @param part CSS selector of the tested part; the whole page if it is not given
 * @param rules `colours`: only rules that another theme can break, of a page that keeps the rest
 */
export async function accessibilityProblems(
  page: Page,
  part = 'html',
  rules: 'all' | 'colours' = 'all',
): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .include(part)
    // Nodes that keep the rules are thousands, and no test reads them.
    .options({
      runOnly: rules === 'all' ? { type: 'tag', values: TAGS } : { type: 'rule', values: OF_COLOURS },
      rules: rules === 'all' ? Object.fromEntries(FURTHER.map((id) => [id, { enabled: true }])) : {},
      resultTypes: ['violations'],
    })
    // Else it opens a page of its own to put results of frames together, which takes seconds. There are no frames.
    .setLegacyMode(true)
    .analyze();
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join('; ')})`,
  );
}
