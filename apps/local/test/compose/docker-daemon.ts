/** A Docker daemon of a test's own, with its own socket and data, so that the machine's daemon and images are not touched. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@holdfast/testkit/eventually.js';

const run = promisify(execFile);
const PROGRAMS = ['dockerd', 'docker', 'docker-compose', 'debootstrap', 'nbdcopy'];
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Why no daemon can be started here; `undefined`: one can. */
export function whyNoDaemon(): string | undefined {
  if (process.getuid?.() !== 0) return 'a Docker daemon needs root';
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  const missing = PROGRAMS.filter(
    (name) => !folders.some((folder) => fs.existsSync(path.join(folder, name))),
  );
  return missing.length === 0 ? undefined : `these programs are missing: ${missing.join(', ')}`;
}

export class DockerDaemon {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    private readonly isKept: boolean,
  ) {}

  /**
   * Images stay for the next run where HOLDFAST_TEST_DOCKER_DIR names a folder of an ordinary file system.
   *
   * @throws Error with the end of the daemon's log when it does not come up
   */
  static async start(): Promise<DockerDaemon> {
    const kept = process.env.HOLDFAST_TEST_DOCKER_DIR;
    const folder = kept ?? fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-docker-'));
    fs.mkdirSync(folder, { recursive: true });
    const log = fs.openSync(path.join(folder, 'log'), 'w');
    const at = (name: string) => path.join(folder, name);
    const flags = [
      '--data-root',
      at('data'),
      '--exec-root',
      at('exec'),
      '-p',
      at('pid'),
      '-H',
      `unix://${at('sock')}`,
    ];
    const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
    const child = spawn('dockerd', flags, { stdio: ['ignore', log, log], env: { ...process.env, PATH } });
    const daemon = new DockerDaemon(child, folder, kept !== undefined);
    await eventually('the daemon answers', () => daemon.try('docker', ['version']), Boolean).catch(
      (error) => {
        child.kill();
        throw new Error(`${error}\n${fs.readFileSync(at('log'), 'utf8').slice(-2_000)}`);
      },
    );
    return daemon;
  }

  /** Folder for downloads that the next run may use again, as it may the daemon's images. */
  get downloads(): string {
    return path.join(this.folder, 'downloads');
  }

  /** Runs a program against this daemon. @returns what it printed @throws Error when it does not end with 0 */
  async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { stdout } = await run(program, args, {
      env: {
        ...process.env,
        DOCKER_HOST: `unix://${path.join(this.folder, 'sock')}`,
        DOCKER_BUILDKIT: '0',
        ...env,
      },
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return stdout;
  }

  private try(program: string, args: readonly string[]): Promise<boolean> {
    return this.run(program, args).then(
      () => true,
      () => false,
    );
  }

  async stop(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
    if (!this.isKept) execFileSync('rm', ['-rf', this.folder]);
  }
}
