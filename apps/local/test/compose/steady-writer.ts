/**
 * A user of a volume that goes on through everything, by QEMU's NBD client: what is not acknowledged is sent again over a new
 * connection, as a kernel's client with a reconnect does. What was acknowledged has to be there in the end.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { outputOf } from '@holdfast/testkit/nbd-tools.js';
import { pattern } from '@holdfast/testkit/nbd-workload.js';
import { QemuIo } from '@holdfast/testkit/qemu-io.js';
import { LongestWait } from './longest-wait.js';

const CHUNK_BYTES = 64 * 1024;
const CHUNKS = 512;
const PAUSE_MS = 50;
/** A client that hears nothing for so long tries a new connection. An engine waits less for a copy that is silent. */
const SILENT_MS_MAX = 20_000;
/** A write that is not acknowledged for so long ends the test: no user would wait longer. */
const UNANSWERED_MS_MAX = 120_000;

export class SteadyWriter {
  /** Number of the write that each chunk holds. */
  private readonly acknowledged = new Map<number, number>();
  private readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-writer-'));
  private client: QemuIo | undefined;
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();
  readonly waits = new LongestWait();
  writes = 0;

  /** @param address where the volume is served at this moment */
  constructor(private readonly address: () => Promise<string>) {}

  start(): void {
    this.running = this.run();
    // It is awaited when the writer is stopped.
    this.running.catch(() => undefined);
  }

  /** @throws Error when a write was not acknowledged in time */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running.finally(() => this.client?.close());
  }

  /** Chunks that do not hold what was acknowledged last, as `nbdcopy` reads them. */
  async wrongChunks(): Promise<number[]> {
    const image = path.join(this.folder, 'image');
    await outputOf('nbdcopy', await this.address(), image);
    const bytes = fs.readFileSync(image);
    fs.rmSync(this.folder, { recursive: true });
    return [...this.acknowledged]
      .filter(([chunk, write]) => {
        const at = chunk * CHUNK_BYTES;
        return !bytes.subarray(at, at + CHUNK_BYTES).equals(pattern(write, CHUNK_BYTES));
      })
      .map(([chunk]) => chunk);
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const write = this.writes + 1;
      await this.waits.during((startedMs) => this.untilAcknowledged(write, startedMs));
      this.acknowledged.set(write % CHUNKS, write);
      this.writes = write;
      await sleep(PAUSE_MS);
    }
  }

  private async untilAcknowledged(write: number, startedMs: number): Promise<void> {
    const file = path.join(this.folder, 'chunk');
    fs.writeFileSync(file, pattern(write, CHUNK_BYTES));
    // `-f` has it acknowledged only when it is on disks.
    const command = `write -f -s ${file} ${(write % CHUNKS) * CHUNK_BYTES} ${CHUNK_BYTES}`;
    for (;;) {
      try {
        this.client ??= QemuIo.open(await this.address());
        return await this.client.command(command, SILENT_MS_MAX);
      } catch (error) {
        if (performance.now() - startedMs > UNANSWERED_MS_MAX) throw error;
        this.client?.close();
        this.client = undefined;
        await sleep(PAUSE_MS * 4);
      }
    }
  }
}
