/**
 * A network of network namespaces: one for each agent, joined by a hub that forwards packets unless a rule drops them.
 * The control plane and the client stay in the namespace of the test, which is joined to the hub too.
 *
 * Links are cut in the hub by rules that drop packets without a reply, as a pulled cable does: for each pair and
 * direction. Needs root, and of the kernel only namespaces, veth pairs and policy routing.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** A party to a link. `control`: the control plane's calls and heartbeats, but not the client's reads and writes. */
export type Party = number | 'control';

export type AgentPorts = { control: number; nbd: number };

/** Why such a network can't be made on this machine; `undefined` where it can. */
export function networkObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `hf-probe-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]);
  if (made.error !== undefined) return 'the program ip (iproute2) is missing';
  if (made.status !== 0) return `no network namespace can be made: ${made.stderr}`;
  const rule = ['-n', name, 'rule', 'add', 'from', '10.1.1.1', 'ipproto', 'tcp', 'dport', '1', 'blackhole'];
  const ruled = spawnSync('ip', rule);
  spawnSync('ip', ['netns', 'del', name]);
  return ruled.status === 0 ? undefined : `the kernel has no policy routing: ${ruled.stderr}`;
}

export class PartitionNetwork {
  private readonly prefix = `hf${process.pid}`;
  /** Address range of this run: two runs at once on one machine have different ones. */
  private readonly net = `10.${64 + (process.pid % 128)}`;
  private readonly cutLinks = new Set<string>();
  /** Shell in the hub that runs commands: starting a process for each would take longer than some cuts last. */
  private hub: ChildProcess | undefined;

  constructor(
    private readonly agentCount: number,
    private readonly apiPort: number,
    private readonly agentPorts: AgentPorts,
  ) {}

  /** Address at which agents reach the control plane. */
  get controlAddress(): string {
    return `${this.net}.0.2`;
  }

  addressOf(agent: number): string {
    return `${this.net}.${agent + 1}.2`;
  }

  namespaceOf(agent: number): string {
    return `${this.prefix}-a${agent}`;
  }

  make(): void {
    const hub = this.hubName;
    run('netns', 'add', hub);
    run('netns', 'exec', hub, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    run('-n', hub, 'link', 'set', 'lo', 'up');
    const outside = `${this.prefix}r`;
    run('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'root', 'netns', hub);
    run('addr', 'add', `${this.net}.0.2/24`, 'dev', outside);
    run('link', 'set', outside, 'up');
    this.raiseInHub('root', 0);
    run('route', 'add', `${this.net}.0.0/16`, 'via', `${this.net}.0.1`);
    for (let agent = 0; agent < this.agentCount; agent += 1) this.join(agent);
    this.hub = spawn('ip', ['-n', hub, '-force', '-batch', '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
  }

  cut(from: Party, to: Party): void {
    this.change(from, to, 'add');
  }

  heal(from: Party, to: Party): void {
    this.change(from, to, 'del');
  }

  healAll(): void {
    for (const link of [...this.cutLinks]) {
      const [from, to] = link.split('>').map((one): Party => (one === 'control' ? one : Number(one)));
      if (from !== undefined && to !== undefined) this.heal(from, to);
    }
    for (let agent = 0; agent < this.agentCount; agent += 1) this.quicken(agent);
  }

  /** Slows what goes to the agent. Packets wait in a queue of half a second; beyond that they are dropped. */
  slow(agent: number, kilobitsPerSecond: number): void {
    const rate = [`${kilobitsPerSecond}kbit`, 'burst', '16k', 'latency', '500ms'];
    spawnSync('tc', [
      '-n',
      this.hubName,
      'qdisc',
      'replace',
      'dev',
      `a${agent}`,
      'root',
      'tbf',
      'rate',
      ...rate,
    ]);
  }

  quicken(agent: number): void {
    spawnSync('tc', ['-n', this.hubName, 'qdisc', 'del', 'dev', `a${agent}`, 'root'], { stdio: 'ignore' });
  }

  async destroy(): Promise<void> {
    if (this.hub !== undefined && this.hub.exitCode === null) {
      const gone = once(this.hub, 'exit');
      this.hub.stdin?.end();
      await gone;
    }
    // Deleting the hub's end of a pair deletes the other end too.
    const names = [
      this.hubName,
      ...Array.from({ length: this.agentCount }, (_, agent) => this.namespaceOf(agent)),
    ];
    for (const name of names) spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
  }

  private get hubName(): string {
    return `${this.prefix}-hub`;
  }

  private join(agent: number): void {
    const name = this.namespaceOf(agent);
    run('netns', 'add', name);
    run('-n', name, 'link', 'set', 'lo', 'up');
    run(
      '-n',
      name,
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      `a${agent}`,
      'netns',
      this.hubName,
    );
    run('-n', name, 'addr', 'add', `${this.addressOf(agent)}/24`, 'dev', 'eth0');
    run('-n', name, 'link', 'set', 'eth0', 'up');
    run('-n', name, 'route', 'add', 'default', 'via', `${this.net}.${agent + 1}.1`);
    this.raiseInHub(`a${agent}`, agent + 1);
  }

  private raiseInHub(device: string, third: number): void {
    run('-n', this.hubName, 'addr', 'add', `${this.net}.${third}.1/24`, 'dev', device);
    run('-n', this.hubName, 'link', 'set', device, 'up');
  }

  private change(from: Party, to: Party, what: 'add' | 'del'): void {
    const link = `${from}>${to}`;
    if (this.cutLinks.has(link) === (what === 'add')) return;
    if (what === 'add') this.cutLinks.add(link);
    else this.cutLinks.delete(link);
    for (const rule of this.rulesOf(from, to)) this.hub?.stdin?.write(`rule ${what} ${rule} blackhole\n`);
  }

  private rulesOf(from: Party, to: Party): string[] {
    const pair = `from ${this.address(from)} to ${this.address(to)}`;
    if (from !== 'control' && to !== 'control') return [pair];
    // Requests of the one and its answers to the other, told by the ports of the two servers.
    const [ownPort, otherPort] =
      from === 'control' ? [this.apiPort, this.agentPorts.control] : [this.agentPorts.control, this.apiPort];
    return [`${pair} ipproto tcp sport ${ownPort}`, `${pair} ipproto tcp dport ${otherPort}`];
  }

  private address(party: Party): string {
    return party === 'control' ? this.controlAddress : this.addressOf(party);
  }
}

function run(...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
