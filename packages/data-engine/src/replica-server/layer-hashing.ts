/**
 * Background hashing of a copy's frozen layers, one layer at a time, to leave the disk to its users. The checksum is
 * stored with the state of the files, and is void when they change.
 */

import type { Layer } from '../layers/layer.js';
import { checksumNow, LayerChecksumHasher } from '../layers/layer-checksum.js';
import type { RangeSums } from '../layers/range-sums.js';
import { hashWindow, nextHeldWindow } from '../layers/window-hash.js';
import type { HashProgress } from '../protocol/commands.js';
import type { Replica } from '../replica/replica.js';

const RUNNING: HashProgress = { state: 'running', checksum: null, silentlyCorrupted: false, message: '' };

export class LayerHashing {
  private readonly results = new Map<string, HashProgress>();
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly replica: Replica) {}

  /**
   * Starts to hash the layer, or reports progress. A finished result is returned once; then hashing may start again.
   */
  async ask(layerId: string, force: boolean): Promise<HashProgress> {
    const known = this.results.get(layerId);
    if (known !== undefined) {
      if (known.state !== 'running') this.results.delete(layerId);
      return known;
    }
    this.results.set(layerId, RUNNING);
    this.queue = this.queue.then(async () => {
      const result = await this.hash(layerId, force).catch(failed);
      this.results.set(layerId, result);
    });
    return RUNNING;
  }

  private async hash(layerId: string, force: boolean): Promise<HashProgress> {
    const layer = this.replica.layer(layerId);
    if (layer === undefined) return { ...RUNNING, state: 'failed', message: 'the layer is gone' };
    const before = await layer.changeTime();
    const stored = this.replica.metadata.layers.find(({ id }) => id === layerId)?.checksum;
    const isValid = stored?.changeTime === before;
    const isComplete = isValid && (await this.replica.ranges.areComplete(layerId));
    if (isComplete && !force) return done(stored.value, false, stored.value);

    const sums = this.replica.ranges.start(layer.sizeBytes);
    const value = await layerChecksum(layer, sums);
    if ((await layer.changeTime()) !== before) {
      await this.replica.layers.noteChecksum(layerId, undefined);
      return { ...RUNNING, state: 'failed', message: 'the layer changed while it was hashed' };
    }
    // The same change times with other content: only the disk itself can have changed it.
    const silentlyCorrupted = isValid && stored.value !== value;
    await this.replica.layers.noteChecksum(layerId, checksumNow(layer, value, before), sums);
    return done(value, silentlyCorrupted, stored?.value ?? null);
  }
}

async function layerChecksum(layer: Layer, sums: RangeSums | undefined): Promise<string> {
  const whole = new LayerChecksumHasher();
  for (
    let window = nextHeldWindow(layer, 0);
    window !== undefined;
    window = nextHeldWindow(layer, window + 1)
  ) {
    whole.add(window, (await hashWindow(layer, window, sums)) ?? '');
  }
  return whole.digest();
}

function done(checksum: string, silentlyCorrupted: boolean, recorded: string | null): HashProgress {
  return { state: 'done', checksum, silentlyCorrupted, recorded, message: '' };
}

function failed(error: unknown): HashProgress {
  return { ...RUNNING, state: 'failed', message: error instanceof Error ? error.message : String(error) };
}
