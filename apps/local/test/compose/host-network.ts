/** What a Docker daemon changes in the network of the machine, and how it was before. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { isAnyRunning } from './leftovers.js';

/** Another one than `docker0`, which a daemon of the machine would have. */
const BRIDGE = 'holdfast-test0';
/** Beside the networks that Docker takes for itself, and that of the compose file. */
const BRIDGE_ADDRESS = '172.30.75.1/24';
/** Of the compose file's network in front. */
const DEPLOYMENT = '172.30.74';
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';
const TABLES = ['iptables', 'ip6tables'];
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

export class HostNetwork {
  readonly bridge = BRIDGE;

  private constructor(
    private readonly links: ReadonlySet<string>,
    private readonly rules: ReadonlyMap<string, string | undefined>,
    private readonly forwarding: string,
  ) {}

  /**
   * Remembers the state of this machine, and makes the bridge of the daemon's containers.
   *
   * @throws Error where another test has a daemon: both would set the same rules, and each take away the other's
   */
  static prepare(): HostNetwork {
    if (isAnyRunning('dockerd', BRIDGE)) throw new Error('another test has a Docker daemon on this machine');
    const rules = TABLES.map((table) => [table, printed(`${table}-save`)] as const);
    const before = new HostNetwork(new Set(links()), new Map(rules), fs.readFileSync(FORWARDING, 'utf8'));
    // They are left where an earlier run was killed.
    for (const name of [before.bridge, ...links().filter(isLeft)]) remove(name);
    execute('ip', 'link', 'add', before.bridge, 'type', 'bridge');
    execute('ip', 'address', 'add', BRIDGE_ADDRESS, 'dev', before.bridge);
    execute('ip', 'link', 'set', before.bridge, 'up');
    return before;
  }

  /** Removes the bridges that are left, and puts the rules for packets back: Docker's refuse what it does not know. */
  restore(): void {
    const isOurs = (name: string) => isOfDocker(name) && !this.links.has(name);
    for (const name of [this.bridge, ...links().filter(isOurs)]) remove(name);
    for (const [table, saved] of this.rules)
      if (saved !== undefined)
        execFileSync(`${table}-restore`, { env: { ...process.env, PATH }, input: saved });
    fs.writeFileSync(FORWARDING, this.forwarding);
  }
}

function isOfDocker(name: string): boolean {
  return /^br-[0-9a-f]{12}$/.test(name);
}

/** A bridge without containers that has the addresses of the deployment: what is sent to those would go there, to no one. */
function isLeft(name: string): boolean {
  if (!isOfDocker(name) || fs.readFileSync(`/sys/class/net/${name}/operstate`, 'utf8').trim() !== 'down')
    return false;
  return printed('ip', '-4', 'address', 'show', 'dev', name)?.includes(`inet ${DEPLOYMENT}.`) === true;
}

function links(): string[] {
  return fs.readdirSync('/sys/class/net');
}

function remove(name: string): void {
  if (links().includes(name)) execute('ip', 'link', 'delete', name);
}

function execute(program: string, ...args: string[]): void {
  execFileSync(program, args, { env: { ...process.env, PATH }, stdio: 'ignore' });
}

/** `undefined` where a kernel has no such table. */
function printed(program: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(program, args, {
      env: { ...process.env, PATH },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}
