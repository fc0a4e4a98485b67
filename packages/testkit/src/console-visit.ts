import fs from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { accessibilityProblems, openBrowser } from './browser.js';
import type { ClusterHome } from './cluster-home.js';
import { LocalStack, type StackOptions } from './local-stack.js';
import { isInRun, sharedBrowser } from './shared-parts.js';
import { type ClusterOptions, TestCluster } from './test-cluster.js';

/** Where to leave pictures for a developer; none are taken when it is not set. */
const pictures = process.env.HOLDFAST_SCREENSHOTS;
/** Time limit of a step that hangs: events come in seconds on a machine that has time. */
const SHOWN_MS_MAX = 300_000;
/** A theme changes colours only, so in the second one the other rules would repeat their findings. */
const THEMES = [
  { theme: 'light', rules: 'all' },
  { theme: 'dark', rules: 'colours' },
] as const;
type Theme = (typeof THEMES)[number]['theme'];
type Rules = (typeof THEMES)[number]['rules'];

/** A user at the console in a real browser, on a stack of the test's own or on a cluster of its own in the run's shared stack. */
export class ConsoleVisit<Stack extends ClusterHome = ClusterHome> {
  /** Uncaught errors on any page: there should be none. */
  readonly errors: string[] = [];

  private constructor(
    readonly stack: Stack,
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  /**
   * On a stack of its own.
   *
   * @param executable of a browser of its own, which it has outside a Jest run
   * @param prepare steps before the browser opens
   */
  static async begin(
    executable: string,
    prepare: (stack: LocalStack) => Promise<void> = async () => undefined,
    options: StackOptions = {},
  ): Promise<ConsoleVisit<LocalStack>> {
    const stack = await LocalStack.start({ ...options, console: true });
    return stack.orDestroy(async () => {
      await prepare(stack);
      return ConsoleVisit.open(stack, await (isInRun() ? sharedBrowser() : openBrowser(executable)));
    });
  }

  /** On a cluster of its own in the stack that the run shares, and in the run's browser. @param prepare as above */
  static async beginShared(
    prepare: (cluster: TestCluster) => Promise<void> = async () => undefined,
    options: ClusterOptions = {},
  ): Promise<ConsoleVisit<TestCluster>> {
    const cluster = await TestCluster.start(options);
    return cluster.orDestroy(async () => {
      await prepare(cluster);
      return ConsoleVisit.open(cluster, await sharedBrowser());
    });
  }

  private static async open<Stack extends ClusterHome>(
    stack: Stack,
    browser: Browser,
  ): Promise<ConsoleVisit<Stack>> {
    const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
    context.setDefaultTimeout(SHOWN_MS_MAX);
    return new ConsoleVisit(stack, browser, await context.newPage());
  }

  async signIn(): Promise<void> {
    const { page, stack } = this;
    await page.goto(stack.local.consoleUrl);
    await page.getByLabel('Email').fill(stack.local.email);
    await page.getByLabel('Password').fill(stack.local.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }

  /** The part after the `?` of the address, decoded. */
  query(): string {
    return decodeURIComponent(new URL(this.page.url()).search);
  }

  /** Waits until the address has this query: the page may show the result a moment before the address has it. */
  async queryBecomes(query: string): Promise<void> {
    await this.page.waitForURL(() => this.query() === query);
  }

  /** By the links that users use, from wherever one is. */
  async openVolume(name: string): Promise<void> {
    await this.page.getByRole('link', { name: 'Volumes' }).first().click();
    // The page before may have a link of the same name.
    await this.page.getByRole('heading', { name: 'Volumes', exact: true }).waitFor();
    await this.page.getByRole('link', { name, exact: true }).click();
    await this.page.getByRole('heading', { name }).waitFor();
  }

  /** Findings of a tool against WCAG 2.2 AA in both themes, each with its theme; leaves a picture of both. */
  async problems(name: string, part?: string): Promise<string[]> {
    const found: string[] = [];
    for (const { theme, rules } of THEMES)
      found.push(...(await this.problemsIn(theme, name, { part, rules })));
    return found;
  }

  /** The same of the open dialog alone: the page under it is held to the rules by the suite of every page. */
  dialogProblems(name: string): Promise<string[]> {
    return this.problems(name, '[role="dialog"]');
  }

  /** The same in one theme. */
  async problemsIn(
    theme: Theme,
    name: string,
    { part, rules = 'all' }: { part?: string | undefined; rules?: Rules } = {},
  ): Promise<string[]> {
    await this.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await this.page.locator(`html[data-theme="${theme}"]`).waitFor();
    const problems = await accessibilityProblems(this.page, part, rules);
    await this.picture(`${name}-${theme}`);
    return problems.map((problem) => `${name}, ${theme}: ${problem}`);
  }

  async picture(name: string): Promise<void> {
    if (pictures === undefined) return;
    fs.mkdirSync(pictures, { recursive: true });
    await this.page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
  }

  async end(): Promise<void> {
    await this.browser.close();
    await this.stack.destroy();
  }
}
