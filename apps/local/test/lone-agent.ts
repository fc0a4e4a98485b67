/** An agent that is started by hand against a control plane, with what it says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';

const AGENT_MAIN = fileURLToPath(new URL('../../agent/dist/main.js', import.meta.url));

export class LoneAgent {
  private log = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly home: string,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => {
      this.log += chunk.toString();
    });
  }

  /** @param prepare is given its disk's folder before the agent looks into it */
  static async start(
    environment: { HOLDFAST_API_URL: string; HOLDFAST_NODE_NAME: string } & NodeJS.ProcessEnv,
    prepare: (disk: string) => Promise<unknown> = async () => undefined,
  ): Promise<LoneAgent> {
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-lone-agent-'));
    await prepare(path.join(home, 'disk'));
    const child = spawn(process.execPath, [AGENT_MAIN], {
      env: {
        PATH: process.env.PATH,
        HOLDFAST_DISKS: path.join(home, 'disk'),
        HOLDFAST_DISK_SIZE: '1Gi',
        HOLDFAST_CONTROL_PORT: String(await freePort()),
        HOLDFAST_NBD_PORT: String(await freePort()),
        HOLDFAST_STATE_DIR: path.join(home, 'state'),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new LoneAgent(child, home);
  }

  /** Waits until its log has the text. */
  async says(text: string): Promise<void> {
    await eventually(
      `the agent says: ${text}`,
      async () => this.log,
      (log) => log.includes(text),
    );
  }

  get hasJoined(): boolean {
    return fs.existsSync(path.join(this.home, 'state/identity/identity.json'));
  }

  /** Names of what is on its disk. */
  get onDisk(): string[] {
    return fs
      .readdirSync(path.join(this.home, 'disk'), { recursive: true, encoding: 'utf8' })
      .map((name) => path.basename(name));
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await ended;
    fs.rmSync(this.home, { recursive: true, force: true });
  }
}
