// nbdkit's file plugin on a plain file: the baseline of what an NBD server on this disk and machine reaches.
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';
import { freePort } from './stack.mjs';

const PATIENCE_MS = 5_000;

export class Nbdkit {
  /** Starts the server; `undefined` where nbdkit is not installed. */
  static async start(folder, sizeBytes, name = 'plain.img') {
    if (spawnSync('nbdkit', ['--version']).status !== 0) return undefined;
    const server = new Nbdkit();
    server.file = path.join(folder, name);
    spawnSync('truncate', ['-s', String(sizeBytes), server.file]);
    server.port = await freePort();
    server.child = spawn(
      'nbdkit',
      ['-f', '-i', '127.0.0.1', '-p', String(server.port), 'file', server.file],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    return server;
  }

  async connect() {
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

  async stop() {
    this.child.kill('SIGTERM');
    await new Promise((resolve) => this.child.once('exit', resolve));
  }
}
