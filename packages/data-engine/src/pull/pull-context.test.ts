import { KIB, MIB } from '@holdfast/core/model/bytes.js';
import { describe, expect, test } from '@jest/globals';
import { PullContext } from './pull-context.js';
import { PullSources } from './pull-sources.js';
import { Throttle } from './throttle.js';

const FREE = { paused: false, bandwidthBytesPerSecond: null };
const noControl = () => {
  throw new Error('no source is asked here');
};

/** A rebuild whose windows end when the test says so. */
class HeldWork {
  readonly throttle = new Throttle(FREE);
  readonly context = new PullContext(
    1,
    'blake3',
    new PullSources([], 1, noControl),
    this.throttle,
    () => false,
  );
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];

  begin(what: 'copy' | 'verify', lengthBytes: number): void {
    const work = () => {
      this.begun.push(`${what} ${lengthBytes / KIB}`);
      return new Promise<void>((resolve) => this.ends.push(resolve));
    };
    void this.context[what](work, lengthBytes);
  }

  /** How many windows have begun of those that could. */
  async count(what: string): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.begun.filter((one) => one === what).length;
  }

  endAll(): void {
    for (const end of this.ends.splice(0)) end();
  }
}

describe('windows of a rebuild', () => {
  test('a few large ones are under way, and more that are small do not wait for them', async () => {
    const held = new HeldWork();
    for (let index = 0; index < 20; index += 1) {
      held.begin('copy', 4 * MIB);
      held.begin('verify', 4 * MIB);
      held.begin('copy', 256 * KIB);
      held.begin('verify', 4 * KIB);
    }
    expect(await held.count('copy 4096')).toBe(6);
    expect(await held.count('verify 4096')).toBe(2);
    expect(await held.count('copy 256')).toBe(16);
    expect(await held.count('verify 4')).toBe(8);
    held.endAll();
    expect(await held.count('copy 256')).toBe(20);
  });

  test('while users are at work there is one at a time, of whatever size', async () => {
    const held = new HeldWork();
    held.throttle.tune({ ...FREE, yields: true });
    held.begin('copy', 4 * KIB);
    held.begin('copy', 4 * MIB);
    held.begin('verify', 4 * KIB);
    await held.count('');
    expect(held.begun).toHaveLength(1);
  });

  test('copies that have begun are waited for, the small ones too', async () => {
    const held = new HeldWork();
    held.begin('copy', 4 * KIB);
    await held.count('');
    let isOver = false;
    void held.context.copiesBegun().then(() => {
      isOver = true;
    });
    await held.count('');
    expect(isOver).toBe(false);
    held.endAll();
    await held.count('');
    expect(isOver).toBe(true);
  });
});
