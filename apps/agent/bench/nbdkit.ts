// nbdkit's file plugin on a plain file: the baseline of what an NBD server on this disk and machine reaches.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { freePort } from './stack.js';

const PATIENCE_MS = 5_000;

export class Nbdkit {
  private constructor(
    readonly file: string,
    private readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  /** Starts the server; `undefined` where nbdkit is not installed. */
  static async start(folder: string, sizeBytes: number, name: string): Promise<Nbdkit | undefined> {
    if (spawnSync('nbdkit', ['--version']).status !== 0) return undefined;
    const file = path.join(folder, name);
    spawnSync('truncate', ['-s', String(sizeBytes), file]);
    const port = await freePort();
    const child = spawn('nbdkit', ['-f', '-i', '127.0.0.1', '-p', String(port), 'file', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Nbdkit(file, port, child);
  }

  async connect(): Promise<NbdClient> {
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await NbdClient.connect({ host: '127.0.0.1', port: this.port, exportName: '' }, PATIENCE_MS);
      } catch (error) {
        if (performance.now() > giveUpMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await new Promise((resolve) => this.child.once('exit', resolve));
  }
}
