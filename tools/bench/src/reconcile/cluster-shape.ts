// Shape of the measured cluster: which node holds what. Every row and every report follows from a number, so that both
// sides agree without a list of 100,000 volumes.
export type Shape = {
  /** A multiple of the zones. */
  readonly nodes: number;
  readonly disksPerNode: number;
  readonly volumes: number;
};

const REPLICAS = 3;
const ZONES = 4;
export const GIB = 2 ** 30;

type Kind = 'node' | 'disk' | 'volume' | 'replica' | 'boot' | 'grant';
const KINDS: Record<Kind, string> = {
  node: 'a1',
  disk: 'a2',
  volume: 'a3',
  replica: 'a4',
  boot: 'a5',
  grant: 'a6',
};

/** The UUID of one of the cluster's things, by its number. */
export function idOf(kind: Kind, number: number): string {
  return `000000${KINDS[kind]}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function replicaIdOf(volume: number, copy: number): string {
  return idOf('replica', volume * REPLICAS + copy);
}

export function zoneOf({ nodes }: Shape, node: number): string {
  return `zone-${Math.floor((node * ZONES) / nodes)}`;
}

/** Nodes of different zones; volumes that share one node share few others, as a scheduler's choices do. */
export function replicaNodes({ nodes }: Shape, volume: number): number[] {
  const perZone = nodes / ZONES;
  const place = Math.floor(volume / ZONES);
  const round = Math.floor(place / perZone);
  return Array.from({ length: REPLICAS }, (_, copy) => {
    const zone = (volume + copy) % ZONES;
    return zone * perZone + ((place + (1 + 3 * copy) * round) % perZone);
  });
}

export function engineNode({ nodes }: Shape, volume: number): number {
  return (volume + Math.floor(volume / nodes)) % nodes;
}

export function diskOf({ disksPerNode }: Shape, volume: number, copy: number): number {
  const round = Math.floor(volume / disksPerNode);
  return (volume + round + copy) % disksPerNode;
}

export function diskIdOf(shape: Shape, node: number, disk: number): string {
  return idOf('disk', node * shape.disksPerNode + disk);
}

/** Volumes by what a node has of them: their engines, and their copies. */
export type NodeLoad = {
  readonly engines: number[];
  readonly copies: { readonly volume: number; readonly copy: number }[];
};

export function loadOfNodes(shape: Shape): NodeLoad[] {
  const loads = Array.from({ length: shape.nodes }, (): NodeLoad => ({ engines: [], copies: [] }));
  for (let volume = 0; volume < shape.volumes; volume += 1) {
    loads[engineNode(shape, volume)]?.engines.push(volume);
    for (const [copy, node] of replicaNodes(shape, volume).entries()) {
      loads[node]?.copies.push({ volume, copy });
    }
  }
  return loads;
}
