// A page of a real browser with what it costs: bytes from the network, time of its main thread, memory, paints, interactions, frames.
import type { openBrowser } from '@holdfast/testkit/browser.js';

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;
type CDPSession = Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>;

/** Run in every page before its own scripts. Texts, because they run in the browser. */
const OBSERVE = `
  window.bench = { largestPaintMs: 0, interactions: new Map() };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.bench.largestPaintMs = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId === 0) continue;
      const { interactions } = window.bench;
      interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });`;

/**
 * Some five screens a second, or 133 rows: a fling in which one still sees what passes. By time and not by frames: a late frame has
 * more to draw.
 */
const SCROLL_PX_PER_MS = 4.8;

const FRAMES = `(async () => {
  const frames = [];
  const begin = await new Promise(requestAnimationFrame);
  let last = begin;
  while (last < begin + DURATION) {
    window.scrollTo(0, (last - begin) * ${SCROLL_PX_PER_MS});
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
})()`;

export type Cost = { readonly bytes: number; readonly scriptBytes: number; readonly mainThreadMs: number };

export class WatchedPage {
  private bytes = 0;
  private scriptBytes = 0;
  private readonly scripts = new Set<string>();

  private constructor(
    readonly page: Page,
    private readonly session: CDPSession,
  ) {
    session.on('Network.requestWillBeSent', ({ requestId, type }) => {
      if (type === 'Script') this.scripts.add(requestId);
    });
    // What a stream brings is told as it comes; its end comes with the page's.
    session.on('Network.dataReceived', ({ encodedDataLength }) => {
      this.bytes += encodedDataLength;
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (this.scripts.has(requestId)) this.scriptBytes += encodedDataLength;
    });
  }

  static async open(browser: Browser): Promise<WatchedPage> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addInitScript(OBSERVE);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Performance.enable');
    return new WatchedPage(page, session);
  }

  /** Empties the browser's cache, as for a first visit. */
  async forgetFiles(): Promise<void> {
    await this.session.send('Network.clearBrowserCache');
  }

  /** What the work costs, until it has ended. */
  async costOf(work: () => Promise<unknown>): Promise<Cost> {
    const before = { bytes: this.bytes, scriptBytes: this.scriptBytes, ms: await this.mainThreadMs() };
    await work();
    return {
      bytes: this.bytes - before.bytes,
      scriptBytes: this.scriptBytes - before.scriptBytes,
      mainThreadMs: (await this.mainThreadMs()) - before.ms,
    };
  }

  largestPaintMs(): Promise<number> {
    return this.page.evaluate('window.bench.largestPaintMs');
  }

  /** Milliseconds since the page was asked for. */
  nowMs(): Promise<number> {
    return this.page.evaluate('performance.now()');
  }

  /** Those that took 16 ms or more, the longest event of each; the others are too short to be told. */
  interactionsMs(): Promise<number[]> {
    return this.page.evaluate('[...window.bench.interactions.values()]');
  }

  forgetInteractions(): Promise<void> {
    return this.page.evaluate('window.bench.interactions.clear()');
  }

  /** Times between frames while the page is scrolled. */
  framesMs(durationMs: number): Promise<number[]> {
    return this.page.evaluate(FRAMES.replace('DURATION', String(durationMs)));
  }

  /** After everything that can be freed was freed. */
  async heapBytes(): Promise<number> {
    await this.session.send('HeapProfiler.collectGarbage');
    return this.metric('JSHeapUsedSize');
  }

  private async mainThreadMs(): Promise<number> {
    return 1000 * (await this.metric('TaskDuration'));
  }

  private async metric(name: string): Promise<number> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === name)?.value ?? 0;
  }
}
