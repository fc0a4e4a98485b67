/**
 * Fill: copies a snapshot of another volume into a new one, before users may attach it.
 *
 * All writes go through the volume's own device, so that all copies receive them and stay equal, and each copy is
 * read back before the fill counts as done. It can be restarted at any time: blocks that are already equal are not
 * written.
 */
import { WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DataLink } from '../nbd/data-link.js';
import { contiguous } from '../nbd/export.js';
import { heldWindows, type WindowPlan } from '../nbd/held-windows.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import { formatExportName } from '../protocol/export-names.js';
import type { PullSource } from '../protocol/pull.js';
import type { Copies } from './copies.js';
import type { VolumeDevice } from './volume-device.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Windows in flight at once: 16 MiB. */
const WINDOWS_IN_FLIGHT = 4;

export type FillSpec = { fillId: string; snapshotId: string; sources: readonly PullSource[] };
export type FillState = {
  fillId: string;
  state: 'running' | 'succeeded' | 'failed';
  bytes: number;
  error: string;
};

export interface FillHost {
  readonly copies: Copies;
  readonly device: VolumeDevice;
  readonly dependencies: Partial<Ports>;
  equal(): Promise<void>;
}

export class Fill {
  private state: FillState['state'] = 'running';
  private bytes = 0;
  private error = '';
  private cancelled = false;
  private ended: Promise<void> | undefined;

  constructor(
    private readonly host: FillHost,
    private readonly spec: FillSpec,
  ) {}

  get fillId(): string {
    return this.spec.fillId;
  }

  report(): FillState {
    return { fillId: this.fillId, state: this.state, bytes: this.bytes, error: this.error };
  }

  start(onEnd: () => void): void {
    this.ended ??= this.run()
      .then(
        () => {
          this.state = 'succeeded';
        },
        (error: unknown) => {
          this.state = 'failed';
          this.error = error instanceof Error ? error.message : String(error);
        },
      )
      .finally(onEnd);
  }

  async cancel(): Promise<void> {
    this.cancelled = true;
    await this.ended;
  }

  private async run(): Promise<void> {
    await this.host.equal();
    const failures: unknown[] = [];
    for (const source of this.spec.sources) {
      try {
        await this.copyFrom(source);
        await this.host.device.flush();
        return;
      } catch (error) {
        this.requireGoingOn();
        failures.push(error);
      }
    }
    throw failures.at(-1) ?? new StorageFault('rebuild.failed', { publicMessage: 'there is no source' });
  }

  private async copyFrom(source: PullSource): Promise<void> {
    const exportName = formatExportName({ kind: 'snapshot', layerId: this.spec.snapshotId, ...source });
    const address = { host: source.nbdHost, port: source.nbdPort, nodeId: source.nodeId, exportName };
    const client = await portsOf(this.host.dependencies).connectData(address, CONNECT_TIMEOUT_MS);
    const inFlight = new Set<Promise<void>>();
    const failures: unknown[] = [];
    this.bytes = 0;
    try {
      for await (const window of heldWindows(client)) {
        const work: Promise<void> = this.copyWindow(client, window)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => inFlight.delete(work));
        inFlight.add(work);
        if (inFlight.size >= WINDOWS_IN_FLIGHT) await Promise.race(inFlight);
        if (failures.length > 0) break;
      }
    } finally {
      await Promise.all(inFlight);
      client.close();
    }
    if (failures.length > 0) throw failures[0];
  }

  private async copyWindow(client: DataLink, plan: WindowPlan): Promise<void> {
    const { device } = this.host;
    // All at once: the connection pipelines them.
    const reads = plan.runs.map(async ({ offset, lengthBytes }) => ({
      offset,
      lengthBytes,
      payload: await client.read(offset, lengthBytes),
    }));
    for (const { offset, lengthBytes, payload } of await Promise.all(reads)) {
      this.requireGoingOn();
      const wanted = contiguous(payload);
      const held = contiguous(await device.read(offset, lengthBytes));
      if (!held.equals(wanted)) await device.write(offset, payload, lengthBytes, { fua: false });
      await this.proveWritten(offset, wanted);
      this.bytes += lengthBytes;
    }
  }

  /** Reads the written data back, from every copy. */
  private async proveWritten(offset: number, wanted: Buffer): Promise<void> {
    const { copies } = this.host;
    await Promise.all(
      copies.withMode('RW').map(async (copy) => {
        const held = contiguous(await copy.client.read(offset, wanted.length));
        if (!held.equals(wanted)) {
          throw new StorageFault('rebuild.contents_differ', {
            publicMessage: `copy ${copy.replicaId} does not hold what was written at ${offset}`,
            context: { window: Math.floor(offset / WINDOW_BYTES) },
          });
        }
      }),
    );
  }

  private requireGoingOn(): void {
    this.host.copies.requireServing();
    if (this.cancelled) throw new StorageFault('rebuild.cancelled', { publicMessage: 'it was cancelled' });
  }
}
