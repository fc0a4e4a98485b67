/**
 * Addresses that an agent may report as its own: the one that it has connected from, or one in a network that the operator allows. The
 * control plane calls that address, and engines send it secrets of copies, so an agent must not choose another machine's.
 */
import dns from 'node:dns/promises';
import net from 'node:net';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { isWithin } from '@holdfast/identity/address-ranges.js';
import { hostOf } from '@holdfast/identity/names.js';

const LOOKUP_TIMEOUT_MS = 2_000;
/** Cache of resolved names: agents report every two seconds. */
const NAMES_MAX = 4_096;
const KNOWN_MS = 10_000;
const LOOPBACK = ['127.0.0.0/8', '::1'];

export type Lookup = (name: string) => Promise<readonly string[]>;

const systemLookup: Lookup = async (name) =>
  (await dns.lookup(name, { all: true })).map(({ address }) => address);

export class AgentAddresses {
  private readonly known = new Map<string, { addresses: Promise<readonly string[]>; atMs: number }>();

  /** @param networks allowed beside the address that an agent connects from (CIDR) */
  constructor(
    private readonly networks: readonly string[],
    private readonly lookup: Lookup = systemLookup,
  ) {}

  /**
   * @param connectedFrom the peer address of the connection: headers can be forged
   * @returns the heartbeat with the address in the place of a name in the control URL, so that the checked address is the called one
   * @throws StorageFault `node.address_refused`
   */
  async checked(heartbeat: Heartbeat, connectedFrom: string): Promise<Heartbeat> {
    const controlUrl = await this.checkedUrl(heartbeat.node, connectedFrom);
    return { ...heartbeat, node: { ...heartbeat.node, controlUrl } };
  }

  /**
   * @returns the control URL with the address in the place of a name
   * @throws StorageFault `node.address_refused`
   */
  async checkedUrl(
    { controlUrl, nbdHost }: Pick<Heartbeat['node'], 'controlUrl' | 'nbdHost'>,
    connectedFrom: string,
  ): Promise<string> {
    const url = new URL(controlUrl);
    const controlAddress = await this.requireAllowed(hostOf(url), connectedFrom);
    await this.requireAllowed(nbdHost, connectedFrom);
    url.hostname = net.isIPv6(controlAddress) ? `[${controlAddress}]` : controlAddress;
    return url.origin;
  }

  private async requireAllowed(host: string, connectedFrom: string): Promise<string> {
    const addresses = await this.addressesOf(host);
    const [first] = addresses;
    if (first === undefined) throw refused(`its address ${host} can not be resolved here`);
    const wrong = addresses.find((address) => !this.isAllowed(address, canonical(connectedFrom)));
    if (wrong === undefined) return first;
    const named = wrong === host ? wrong : `${host} (${wrong})`;
    throw refused(
      `it says that it is reached at ${named}, and has connected from ${canonical(connectedFrom)}`,
    );
  }

  private isAllowed(address: string, from: string): boolean {
    if (address === from || isWithin(address, this.networks)) return true;
    return isWithin(address, LOOPBACK) && isWithin(from, LOOPBACK);
  }

  private async addressesOf(host: string): Promise<readonly string[]> {
    if (net.isIP(host) !== 0) return [canonical(host)];
    const nowMs = performance.now();
    const known = this.known.get(host);
    if (known !== undefined && nowMs - known.atMs < KNOWN_MS) return known.addresses;
    if (this.known.size >= NAMES_MAX) this.known.clear();
    const addresses = withinTime(this.lookup(host)).then(
      (found) => found.map(canonical),
      () => [],
    );
    this.known.set(host, { addresses, atMs: nowMs });
    return addresses;
  }
}

/** One spelling for each address: an IPv4 address that is mapped into IPv6 is that IPv4 address. */
export function canonical(address: string): string {
  if (!net.isIPv6(address)) return address;
  const [bare = address] = address.split('%');
  const shortest = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(shortest) ?? [];
  if (high === undefined || low === undefined) return shortest;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the name service does not answer')), LOOKUP_TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function refused(why: string): StorageFault {
  return new StorageFault('node.address_refused', {
    publicMessage: `the agent is not believed: ${why}`,
    cures: [
      'give it its own address in HOLDFAST_ADVERTISE_HOST',
      'allow the network in HOLDFAST_AGENT_NETWORKS of the API, where agents come by another address than they are reached at',
    ],
  });
}
