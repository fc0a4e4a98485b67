/**
 * Roots of a copy, in A/B slots. Each root names the clusters of a catalog, its length and its hash. The catalog is
 * durable before a root names it, so one with another hash is damaged.
 */
import { blake3Of } from '../../base/blake3.js';
import { SectorSeals } from '../sealed-sectors.js';
import { isUuid } from '../stored-values.js';
import { readPair, SECTORS_PER_SIDE, SIDE_CONTENT_BYTES, whichOf } from './sealed-pair.js';

/** State of a copy. `making`: its creation has not ended. `none`: removed, or never there. */
export type RootState = 'none' | 'making' | 'copy';
const STATES: readonly RootState[] = ['none', 'making', 'copy'];

export type CopyRoot = {
  state: RootState;
  replicaId: string;
  /** Raised by each change. The other root holds the previous generation. */
  generation: number;
  catalogBytes: number;
  catalogHash: Buffer;
  clusters: readonly number[];
};

/** Content of a copy's slot. */
export type SlotState =
  /** The generation of its last root. */
  | { kind: 'free'; generation: number }
  /** `spare`: clusters of the previous catalog, which the next one reuses. */
  | { kind: 'root'; root: CopyRoot; spare: readonly number[] }
  /** With the readable root, if there is one; it may not be the newest. */
  | { kind: 'damaged'; root: CopyRoot | undefined };

const CLUSTERS_OFFSET = 100;
/** Maximum size of a catalog, 61 MiB: 250 layers of a volume of 16 TiB take some 30 MiB. */
export const CATALOG_CLUSTERS_MAX = Math.floor((SIDE_CONTENT_BYTES - CLUSTERS_OFFSET) / 4);

/** Codec for the roots of one slot; they are sealed for their disk and their position on it. */
export class SlotRoots {
  private readonly seals: SectorSeals;

  constructor(
    diskId: string,
    private readonly slot: number,
  ) {
    this.seals = new SectorSeals(`root ${diskId}`);
  }

  /** The encoded block, and which of the two sides it is written to. */
  encode(root: CopyRoot): { block: Buffer; which: 0 | 1 } {
    const which = whichOf(root.generation);
    return { block: this.seals.seal(contentOf(root), this.firstSector(which), root.generation), which };
  }

  /** Both blocks of a slot that never had a copy. */
  encodeFree(diskId: string): Buffer {
    const nothing = { clusters: [], catalogBytes: 0, catalogHash: blake3Of([]) };
    const root = (generation: number) =>
      this.encode({ ...nothing, state: 'none', replicaId: diskId, generation }).block;
    return Buffer.concat([root(0), root(1)]);
  }

  /**
   * @param blocks as they were read; `undefined` for an unreadable one
   * @param mayBeBlank the disk has version 2, whose slots are blank before their first copy
   */
  decode(blocks: readonly [Buffer | undefined, Buffer | undefined], mayBeBlank: boolean): SlotState {
    const found = (which: 0 | 1) => ({ block: blocks[which], firstSector: this.firstSector(which) });
    const pair = readPair(this.seals, [found(0), found(1)], mayBeBlank);
    if (pair.kind === 'blank') return { kind: 'free', generation: 0 };
    const newest = pair.kind === 'held' ? pair.content : pair.left?.content;
    const root = newest && rootIn(newest);
    // A removed copy's root never has a whole copy beside it.
    if (root?.state === 'none') return { kind: 'free', generation: root.generation };
    if (pair.kind === 'damaged' || root === undefined) return { kind: 'damaged', root };
    const older = pair.before();
    const before = older && rootIn(older);
    return { kind: 'root', root, spare: before?.replicaId === root.replicaId ? before.clusters : [] };
  }

  private firstSector(which: 0 | 1): number {
    return (this.slot * 2 + which) * SECTORS_PER_SIDE;
  }
}

function contentOf(root: CopyRoot): Buffer {
  const content = Buffer.alloc(SIDE_CONTENT_BYTES);
  content.writeBigUInt64LE(BigInt(root.generation), 0);
  content.writeUInt32LE(STATES.indexOf(root.state), 8);
  content.writeUInt32LE(root.catalogBytes, 12);
  root.catalogHash.copy(content, 16);
  content.write(root.replicaId, 48, 'latin1');
  content.writeUInt32LE(root.clusters.length, 96);
  for (const [index, cluster] of root.clusters.entries()) {
    content.writeUInt32LE(cluster, CLUSTERS_OFFSET + index * 4);
  }
  return content;
}

/** @returns `undefined` for content that no program of this format has written */
function rootIn(content: Buffer): CopyRoot | undefined {
  const state = STATES[content.readUInt32LE(8)];
  const replicaId = content.toString('latin1', 48, 84);
  const count = content.readUInt32LE(96);
  if (state === undefined || !isUuid(replicaId) || count > CATALOG_CLUSTERS_MAX) return undefined;
  return {
    state,
    replicaId,
    generation: Number(content.readBigUInt64LE(0)),
    catalogBytes: content.readUInt32LE(12),
    catalogHash: Buffer.from(content.subarray(16, 48)),
    clusters: Array.from({ length: count }, (_, index) => content.readUInt32LE(CLUSTERS_OFFSET + index * 4)),
  };
}
