/** A user of the deployment's console, in a real browser. */
import { findBrowser, openBrowser } from '@holdfast/testkit/browser.js';
import { eventually } from '@holdfast/testkit/eventually.js';

const SHOWN_MS_MAX = 60_000;

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

export class BrowserVisit {
  /** What was thrown on any page and not caught. */
  readonly errors: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
  ) {
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  /** @returns `undefined` on a machine without a browser */
  static async begin(): Promise<BrowserVisit | undefined> {
    const executable = findBrowser();
    if (executable === undefined) return undefined;
    const browser = await openBrowser(executable);
    const page = await browser.newPage();
    page.setDefaultTimeout(SHOWN_MS_MAX);
    return new BrowserVisit(browser, page);
  }

  /** Makes the first account by the one-time link, which signs its owner in. */
  async makeFirstAccount(link: string, account: { email: string; password: string }): Promise<void> {
    const { page } = this;
    // A container is started long before what runs in it listens.
    const answers = () =>
      fetch(new URL('/livez', link)).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually('the console answers', answers, (isThere) => isThere);
    await page.goto(link);
    await page.getByLabel('Name').fill('Owner');
    await page.getByLabel('Email').fill(account.email);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }

  /** By the links that users use. */
  async seeHealthy(volume: string): Promise<void> {
    const { page } = this;
    await page.getByRole('link', { name: 'Volumes' }).first().click();
    await page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
    await page.getByRole('link', { name: volume, exact: true }).click();
    await page.getByRole('heading', { name: volume }).waitFor();
    await page.getByText('Healthy', { exact: true }).first().waitFor();
    for (const zone of ['zone-a', 'zone-b', 'zone-c'])
      await page.getByRole('region', { name: `Zone ${zone}` }).waitFor();
  }

  async end(): Promise<void> {
    await this.browser.close();
  }
}
