/** A Docker daemon of a test's own, with its own socket, data and bridge, so that the machine's daemon and images are not touched. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HostNetwork } from './host-network.js';
import { endProcessesOf, unmountWithin } from './leftovers.js';

const run = promisify(execFile);
const PROGRAMS = 'dockerd docker docker-init docker-compose debootstrap nbdcopy ip iptables setpriv'.split(
  ' ',
);
const ADMIN_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** A daemon that can't run here ends within a second or two; one that neither ends nor answers is given up. */
const STARTED_MS_MAX = 60_000;
const STEP_MS_MAX = 180_000;
const STOPPED_MS_MAX = 30_000;

/** A daemon that has run a container already, or why none can be started here. */
export type Started = { daemon: DockerDaemon; reason?: undefined } | { daemon?: undefined; reason: string };

type Place = {
  /** Where its data is and stays. Default: HOLDFAST_TEST_DOCKER_DIR; without that, a folder that goes with the daemon. */
  folder?: string | undefined;
  /** Command line under which the daemon is run. */
  within?: readonly string[];
};

export class DockerDaemon {
  private constructor(
    private readonly process: ChildProcess,
    private readonly network: HostNetwork,
    private readonly folder: string,
    private readonly isKept: boolean,
  ) {}

  /**
   * Tries it, since what a daemon needs of the kernel (cgroups, an overlay file system, rules for packets) can't be seen from outside.
   */
  static async start({
    folder = process.env.HOLDFAST_TEST_DOCKER_DIR,
    within = [],
  }: Place = {}): Promise<Started> {
    const reason = whyHopeless();
    if (reason !== undefined) return { reason };
    let daemon: DockerDaemon | undefined;
    try {
      daemon = DockerDaemon.spawn(folder, within);
      await daemon.answers();
      await daemon.runsContainers();
      return { daemon };
    } catch (error) {
      await daemon?.stop();
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }

  private static spawn(kept: string | undefined, within: readonly string[]): DockerDaemon {
    const folder = kept ?? fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-docker-'));
    fs.mkdirSync(folder, { recursive: true });
    const at = (name: string) => path.join(folder, name);
    const network = HostNetwork.prepare();
    const flags = ['--data-root', at('data'), '--exec-root', at('exec'), '-p', at('pid')];
    const own = ['-H', `unix://${at('sock')}`, '--bridge', network.bridge, '--storage-driver', 'overlay2'];
    const log = fs.openSync(at('log'), 'w');
    // The daemon ends with the test that started it, however that ends.
    const command = [...within, 'setpriv', '--pdeathsig', 'TERM', 'dockerd', ...flags, ...own];
    const child = spawn(command[0] ?? '', command.slice(1), {
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: searchPath() },
    });
    fs.closeSync(log);
    return new DockerDaemon(child, network, folder, kept !== undefined);
  }

  /** @throws Error with the end of the daemon's log */
  private async answers(): Promise<void> {
    const deadlineMs = performance.now() + STARTED_MS_MAX;
    while (!(await this.tries('docker', ['version']))) {
      if (this.hasEnded()) throw new Error(`the Docker daemon ended: ${this.lastWords()}`);
      if (performance.now() > deadlineMs)
        throw new Error(`the Docker daemon does not answer: ${this.lastWords()}`);
      await sleep(200);
    }
  }

  /** Why it could not start, which may take several lines; else the last line of its log. */
  private lastWords(): string {
    const log = fs.readFileSync(path.join(this.folder, 'log'), 'utf8').trim();
    const [why] = /failed to start daemon: [\s\S]*$/.exec(log) ?? [];
    return (why ?? log.split('\n').at(-1) ?? '').replaceAll(/\s+/g, ' ');
  }

  /** Runs Docker's own static program in an image that has nothing else. */
  private async runsContainers(): Promise<void> {
    const program = fs.realpathSync(found('docker-init') ?? '');
    const archive = path.join(this.folder, 'trial.tar');
    const image = 'holdfast-trial';
    const steps: [string, string[]][] = [
      ['tar', ['-C', path.dirname(program), '-cf', archive, path.basename(program)]],
      ['docker', ['import', archive, image]],
      ['docker', ['run', '--rm', image, `/${path.basename(program)}`, '--version']],
      ['docker', ['rmi', image]],
    ];
    for (const [name, args] of steps) await this.run(name, args, {}, STARTED_MS_MAX);
    fs.rmSync(archive);
  }

  /** Folder for downloads that the next run may use again, as it may the daemon's images. */
  get downloads(): string {
    return path.join(this.folder, 'downloads');
  }

  /**
   * Runs a program against this daemon.
   *
   * @returns what it printed
   * @throws Error when it does not end with 0, or is not done in time and was killed
   */
  async run(
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    timeout = STEP_MS_MAX,
  ): Promise<string> {
    const running = run(program, args, {
      env: {
        ...process.env,
        PATH: searchPath(),
        DOCKER_HOST: `unix://${path.join(this.folder, 'sock')}`,
        DOCKER_BUILDKIT: '0',
        ...env,
      },
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout,
      killSignal: 'SIGKILL',
    });
    const { stdout } = await running.catch((error: Error & { killed?: boolean }) => {
      if (error.killed !== true) throw error;
      throw new Error(`not done within ${timeout / 1000} s: ${program} ${args.join(' ')}`);
    });
    return stdout;
  }

  private tries(program: string, args: readonly string[]): Promise<boolean> {
    return this.run(program, args, {}, STOPPED_MS_MAX).then(
      () => true,
      () => false,
    );
  }

  private hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Ends it with its containers and networks, by force where it does not do so when asked. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    const deadlineMs = performance.now() + STOPPED_MS_MAX;
    while (!this.hasEnded() && performance.now() < deadlineMs) await sleep(100);
    this.process.kill('SIGKILL');
    await endProcessesOf(this.folder);
    unmountWithin(this.folder);
    this.network.restore();
    if (!this.isKept) execFileSync('rm', ['-rf', this.folder]);
  }
}

/** Why there is no use in trying. */
function whyHopeless(): string | undefined {
  if (process.getuid?.() !== 0) return 'a Docker daemon needs root';
  const missing = PROGRAMS.filter((name) => found(name) === undefined);
  return missing.length === 0 ? undefined : `these programs are missing: ${missing.join(', ')}`;
}

function searchPath(): string {
  return [process.env.PATH, ...ADMIN_FOLDERS].join(':');
}

function found(name: string): string | undefined {
  const files = searchPath()
    .split(':')
    .map((folder) => path.join(folder, name));
  return files.find((file) => fs.existsSync(file));
}
