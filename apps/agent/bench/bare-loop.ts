// The bare loop: three processes that make the system calls of three copies for a write, and do nothing else (bare-host.ts).
// What it reaches is what this machine can give in Node, whatever the product did beside these calls.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { HOST_SETTINGS } from '@holdfast/agent/hosts/host-pool.js';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';

const HOST = path.join(import.meta.dirname, 'bare-host.js');
const PATIENCE_MS = 5_000;

export class BareLoop {
  private constructor(
    readonly client: NbdClient,
    readonly files: readonly string[],
    private readonly children: readonly ChildProcess[],
  ) {}

  static async start(folder: string, sizeBytes: number): Promise<BareLoop> {
    const children: ChildProcess[] = [];
    const files: string[] = [];
    const host = async (name: string, ports: readonly string[]) => {
      const file = path.join(folder, name);
      fs.writeFileSync(file, '');
      fs.truncateSync(file, sizeBytes);
      const args = [...HOST_SETTINGS.execArgv, HOST, file, ...ports];
      const env = { ...process.env, ...HOST_SETTINGS.env };
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      files.push(file);
      const [port] = await once(child.stdout, 'data');
      return String(port).trim();
    };
    const copies = [await host('bare-1.img', []), await host('bare-2.img', [])];
    const port = Number(await host('bare-0.img', copies));
    const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName: '' }, PATIENCE_MS);
    return new BareLoop(client, files, children);
  }

  stop(): void {
    this.client.close();
    for (const child of this.children) child.kill('SIGKILL');
  }
}
