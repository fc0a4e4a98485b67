/**
 * Crash recorder: records what a program does to a folder, and generates the states that a power cut could leave.
 *
 * It assumes the weakest disk: everything written, cut, punched, created, renamed or removed may be there or not
 * after the cut, independently, and a write in flight may be torn; unless a sync of that file (for names: of that
 * folder) began after it had ended, and ended before the cut.
 */
import path from 'node:path';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { type FileCall, FileTap, type OpenFile } from './file-tap.js';
import { applyTo, type Content, type ContentChange, type FolderImage, PAGE_BYTES } from './folder-image.js';

const SECTOR_BYTES = 512;
/** Crash states per moment: with and without each single pending change, and some random choices. */
const PICKED_PER_MOMENT = 4;

type Change =
  | ContentChange
  /** Names in one or two folders: the node that each refers to from now on. */
  | { kind: 'names'; slots: { folder: number; name: string; node: number | undefined }[] };

type Recorded = {
  readonly number: number;
  node: number;
  change: Change;
  begunAt: number;
  endedAt: number;
  /** Unit at which such a write may be torn. */
  unitBytes: number;
};
type Sync = { node: number; begunAt: number; endedAt: number };

/** A crash state: the recorded changes that are there after a cut at this moment. */
export type CrashState = { at: number; kept: readonly Recorded[]; torn: Recorded | undefined };

export class CrashRecorder {
  private readonly tap: FileTap;
  private readonly changes: Recorded[] = [];
  private readonly syncs: Sync[] = [];
  private readonly nodeOf = new WeakMap<OpenFile, number>();
  private readonly isTorn = new WeakMap<OpenFile, boolean>();
  /** Folders and their current content, by node. */
  private readonly folders = new Map<number, Map<string, number>>([[0, new Map()]]);
  private nodes = 1;
  private clock = 0;

  /** @param ignoresSync plants a fault: a matching sync is treated as one that the program forgot */
  constructor(
    private readonly folder: string,
    private readonly ignoresSync: (path: string, isFolder: boolean) => boolean = () => false,
    /** Called with a file's open flags and path: true for writes that may be torn within a block. */
    private readonly tearsBlocks: (flags: string | number, path: string) => boolean = () => false,
  ) {
    this.tap = new FileTap(folder, (call) => this.record(call));
  }

  start(): void {
    this.tap.install();
  }

  stop(): void {
    this.tap.uninstall();
  }

  /** The current moment, from which a promise holds. */
  now(): number {
    this.clock += 1;
    return this.clock;
  }

  /** Crash states, moment by moment after `since`, in a bounded number for each. */
  *states(random: SeededRandom, since = 0): Generator<CrashState> {
    for (let at = since + 1; at <= this.clock; at += 1) {
      const begun = this.changes.filter(({ begunAt }) => begunAt < at);
      const pending = begun.filter((change) => !this.isSafe(change, at));
      const safe = new Set(begun.filter((change) => !pending.includes(change)));
      const seen = new Set<string>();
      for (const chosen of choices(pending, random)) {
        const key = [...chosen].map(({ number }) => number).join();
        if (seen.has(key)) continue;
        seen.add(key);
        const kept = begun.filter((change) => safe.has(change) || chosen.has(change));
        yield { at, kept, torn: undefined };
        const writes = kept.filter(({ change }) => change.kind === 'write');
        const torn =
          writes.find(({ endedAt }) => endedAt >= at) ??
          writes.find((one) => one.unitBytes === SECTOR_BYTES && chosen.has(one));
        if (torn !== undefined) yield { at, kept, torn };
      }
    }
  }

  /** The state with every change: the folder's real content must match it, or the recorder has missed something. */
  whole(): CrashState {
    return { at: this.clock, kept: this.changes, torn: undefined };
  }

  /** The folder's content in the state: many choices of changes give the same bytes. */
  image({ kept, torn }: CrashState): FolderImage {
    const folders = new Map<number, Map<string, number>>([[0, new Map()]]);
    const contents = new Map<number, Content>();
    for (const recorded of kept) {
      const { node, change } = recorded;
      if (change.kind === 'names') {
        for (const { folder, name, node: to } of change.slots) {
          const names = folders.get(folder) ?? new Map<string, number>();
          folders.set(folder, names);
          if (to === undefined) names.delete(name);
          else names.set(name, to);
        }
      } else {
        const content = contents.get(node) ?? { sizeBytes: 0, pages: new Map() };
        contents.set(node, content);
        applyTo(content, recorded === torn && change.kind === 'write' ? tear(recorded, change) : change);
      }
    }
    return this.folderImage(0, folders, contents);
  }

  private folderImage(
    node: number,
    folders: ReadonlyMap<number, ReadonlyMap<string, number>>,
    contents: ReadonlyMap<number, Content>,
  ): FolderImage {
    const entries = [...(folders.get(node) ?? [])].map(([name, child]): FolderImage['entries'][number] => {
      if (this.folders.has(child)) return { name, folder: this.folderImage(child, folders, contents) };
      return { name, file: contents.get(child) ?? { sizeBytes: 0, pages: new Map() } };
    });
    return { entries };
  }

  private isSafe({ node, change, endedAt }: Recorded, at: number): boolean {
    const needed = change.kind === 'names' ? change.slots.map(({ folder }) => folder) : [node];
    return needed.every((wanted) =>
      this.syncs.some((sync) => sync.node === wanted && endedAt < sync.begunAt && sync.endedAt < at),
    );
  }

  private record(call: FileCall): (() => void) | undefined {
    switch (call.kind) {
      case 'open':
        return this.open(call);
      case 'write': {
        const bytes = Buffer.concat(call.pieces.map((piece) => Buffer.from(piece)));
        const unitBytes = unitOf(bytes, this.isTorn.get(call.file) ?? false);
        return this.change(
          this.node(call.file),
          { kind: 'write', position: call.position, bytes },
          unitBytes,
        );
      }
      case 'truncate':
        return this.change(this.node(call.file), { kind: 'truncate', sizeBytes: call.sizeBytes });
      case 'punch':
        return this.change(this.node(call.file), call);
      case 'sync':
        return this.sync(call.file);
      case 'mkdir': {
        if (this.find(call.path) !== undefined) return undefined;
        const node = this.newNode();
        this.folders.set(node, new Map());
        return this.rename([{ at: call.path, node }]);
      }
      case 'rename':
        return this.rename([
          { at: call.from, node: undefined },
          { at: call.to, node: this.find(call.from) },
        ]);
      case 'exchange':
        return this.exchange(call);
      case 'remove':
        return this.find(call.path) === undefined
          ? undefined
          : this.rename([{ at: call.path, node: undefined }]);
      case 'read':
        return undefined;
    }
  }

  private open({ path: at, flags, file }: Extract<FileCall, { kind: 'open' }>): (() => void) | undefined {
    const there = this.find(at);
    const node = there ?? this.newNode();
    this.nodeOf.set(file, node);
    this.isTorn.set(file, this.tearsBlocks(flags, file.path));
    if (there === undefined) return this.rename([{ at, node }]);
    return flags === 'w' ? this.change(node, { kind: 'truncate', sizeBytes: 0 }) : undefined;
  }

  private sync(file: OpenFile): (() => void) | undefined {
    const node = this.node(file);
    if (this.ignoresSync(file.path, this.folders.has(node))) return undefined;
    const begunAt = this.now();
    return () => void this.syncs.push({ node, begunAt, endedAt: this.now() });
  }

  /** The kernel refuses the exchange if one of the two names is missing: nothing is recorded then. */
  private exchange({ from, to }: Extract<FileCall, { kind: 'exchange' }>): (() => void) | undefined {
    const [one, other] = [this.find(from), this.find(to)];
    if (one === undefined || other === undefined) return undefined;
    return this.rename([
      { at: from, node: other },
      { at: to, node: one },
    ]);
  }

  private rename(names: { at: string; node: number | undefined }[]): () => void {
    const slots = names.map(({ at, node }) => {
      const folder = this.find(path.dirname(at));
      const name = path.basename(at);
      if (folder === undefined) throw new Error(`the recorder does not know the folder of ${at}`);
      return { folder, name, node };
    });
    for (const { folder, name, node } of slots) {
      const held = this.folders.get(folder);
      if (node === undefined) held?.delete(name);
      else held?.set(name, node);
    }
    return this.change(-1, { kind: 'names', slots });
  }

  private change(node: number, change: Change, unitBytes = PAGE_BYTES): () => void {
    const number = this.changes.length;
    const recorded: Recorded = {
      number,
      node,
      change,
      begunAt: this.now(),
      endedAt: Number.POSITIVE_INFINITY,
      unitBytes,
    };
    this.changes.push(recorded);
    return () => {
      recorded.endedAt = this.now();
    };
  }

  private node(file: OpenFile): number {
    const node = this.nodeOf.get(file);
    if (node === undefined) throw new Error(`the recorder has not seen ${file.path} being opened`);
    return node;
  }

  private find(at: string): number | undefined {
    let node: number | undefined = 0;
    for (const name of path.relative(this.folder, at).split('/')) {
      if (name !== '' && node !== undefined) node = this.folders.get(node)?.get(name);
    }
    return node;
  }

  private newNode(): number {
    this.nodes += 1;
    return this.nodes;
  }
}

function* choices(pending: readonly Recorded[], random: SeededRandom): Generator<ReadonlySet<Recorded>> {
  yield new Set();
  yield new Set(pending);
  for (const one of pending) {
    yield new Set([one]);
    yield new Set(pending.filter((other) => other !== one));
  }
  for (let i = 0; i < PICKED_PER_MOMENT; i += 1) yield new Set(pending.filter(() => random.chance(2)));
}

/**
 * Tears a write in flight: keeps its first half. In whole blocks, as no disk promises more than users are promised
 * here; in whole sectors for metadata, and for anything shorter than a block.
 */
function tear({ unitBytes }: Recorded, change: Extract<ContentChange, { kind: 'write' }>): ContentChange {
  const half = Math.floor(change.bytes.length / 2 / unitBytes) * unitBytes;
  return { ...change, bytes: change.bytes.subarray(0, half) };
}

function unitOf(bytes: Buffer, isTorn: boolean): number {
  return isTorn || bytes.length % PAGE_BYTES !== 0 ? SECTOR_BYTES : PAGE_BYTES;
}
