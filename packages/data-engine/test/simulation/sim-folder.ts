/**
 * Simulated names of one folder. A change of names is atomic, and pending until a sync of the folder that began after it; a power cut
 * keeps or loses each pending one.
 */
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { SimFile } from './sim-file.js';

export type SimNode = SimFile | SimFolder;
type Slot = { readonly name: string; readonly node: SimNode | undefined };

export class SimFolder {
  private readonly names = new Map<string, SimNode>();
  private stored = new Map<string, SimNode>();
  private pending: (readonly Slot[])[] = [];

  get(name: string): SimNode | undefined {
    return this.names.get(name);
  }

  list(): string[] {
    return [...this.names.keys()];
  }

  /** Changes what names refer to, all at once; `undefined` removes one. */
  change(slots: readonly Slot[]): void {
    put(this.names, slots);
    this.pending.push(slots);
  }

  /** @returns to be called when the sync has succeeded */
  beginSync(): () => void {
    const covered = new Set(this.pending);
    return () => {
      for (const slots of this.pending) if (covered.has(slots)) put(this.stored, slots);
      this.pending = this.pending.filter((slots) => !covered.has(slots));
    };
  }

  /** Everything in the folder and below, also what only a power cut would bring back. */
  *files(): Generator<SimFile> {
    for (const node of new Set([...this.names.values(), ...this.stored.values()])) {
      if (node instanceof SimFile) yield node;
      else yield* node.files();
    }
  }

  /** The files that are in the folder and below now, with their names. */
  *namedFiles(): Generator<readonly [name: string, file: SimFile]> {
    for (const [name, node] of this.names) {
      if (node instanceof SimFile) yield [name, node];
      else yield* node.namedFiles();
    }
  }

  powerCut(random: SeededRandom, keepsSome: boolean): void {
    for (const node of new Set([...this.names.values(), ...this.stored.values()]))
      node.powerCut(random, keepsSome);
    for (const slots of this.pending) if (keepsSome && random.chance(2)) put(this.stored, slots);
    this.pending = [];
    this.names.clear();
    for (const [name, node] of this.stored) this.names.set(name, node);
  }

  /** A copy of the current content, for restoring it later. */
  image(): SimFolder {
    const image = new SimFolder();
    for (const [name, node] of this.names) image.names.set(name, node.image());
    image.stored = new Map(image.names);
    return image;
  }
}

function put(names: Map<string, SimNode>, slots: readonly Slot[]): void {
  for (const { name, node } of slots) {
    if (node === undefined) names.delete(name);
    else names.set(name, node);
  }
}
