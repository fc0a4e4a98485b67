/**
 * What a copy that was away gets back (docs/adr/0090-drop-marks.md): drop marks, write-intent marks and the real plan of a rebuild
 * (`plan-layers.ts`), with two blocks of data, each a region of its own. A block's content is the number of a write.
 *
 * Which copies are current is another model's concern (`copy-protocol.ts`): here one engine runs at a time, and copy a
 * is always reachable.
 */
import { planLayers, type RegionRuns, type SourceLayer } from '../../src/rebuild/plan-layers.js';
import { copyOf, type Model, type Step } from './search.js';

export const DROP_RULES = [
  'a drop mark holds what was being written',
  'what the returning copy was writing is compared too',
  'marks are kept until a drop is marked',
  'regions are marked before they are written',
  'copies are equal before a drop is marked',
] as const;
export type DropRule = (typeof DROP_RULES)[number];

type Blocks = (number | null)[];
type Layer = { id: number; parent: number | null; held: Blocks; drop: Drop | null };
type Drop = { replicas: string[]; regions: number[]; since: number };

type Copy = {
  isUp: boolean;
  layers: Layer[];
  /** The layer that the head stands on. */
  parent: number | null;
  head: Blocks;
  /** What of the head a crash leaves. */
  flushed: Blocks;
  /** Regions that may differ from the other copies, durably. */
  marks: number[];
  recordEpoch: number;
};

type Engine = {
  epoch: number;
  readable: number[];
  /** Its connection to these has ended, whether or not they are back. */
  lost: number[];
  write: { block: number; value: number; has: number[] } | null;
  /** Dropped, and not marked yet. */
  dropped: number[];
  isEqual: boolean;
};

export type DropState = {
  copies: Copy[];
  engine: Engine | null;
  members: number[];
  epoch: number;
  writes: number;
  layers: number;
  faults: number;
};

export type DropBounds = { copies: number; epochs: number; writes: number; layers: number; faults: number };

const BLOCKS = [0, 1];
const BLOCK_BYTES = 4096;
const NAMES = ['a', 'b', 'c'];
const nothing = (): Blocks => BLOCKS.map(() => null);

export function dropMarks(bounds: DropBounds, without?: DropRule): Model<DropState> {
  return new DropModel(bounds, without);
}

class DropModel implements Model<DropState> {
  readonly initial: DropState;

  constructor(
    private readonly bounds: DropBounds,
    private readonly without: DropRule | undefined,
  ) {
    const members = Array.from({ length: bounds.copies }, (_, index) => index);
    this.initial = {
      copies: members.map(() => ({
        isUp: true,
        layers: [],
        parent: null,
        head: nothing(),
        flushed: nothing(),
        marks: [],
        recordEpoch: 1,
      })),
      engine: { epoch: 1, readable: members, lost: [], write: null, dropped: [], isEqual: true },
      members,
      epoch: 1,
      writes: 0,
      layers: 0,
      faults: 0,
    };
  }

  violation({ engine, copies }: DropState): string | undefined {
    if (engine === null || engine.write !== null || !engine.isEqual) return undefined;
    const readers = engine.readable.filter((index) => !engine.lost.includes(index));
    const read = readers.map((index) => `${readAll(at(copies, index))}`);
    const differs = read.findIndex((one) => one !== read[0]);
    if (differs < 0) return undefined;
    return `copy ${nameOf(readers[differs])} reads ${read[differs]}, and others ${read[0]}`;
  }

  *next(state: DropState): Iterable<Step<DropState>> {
    const { engine } = state;
    yield* this.faults(state);
    if (engine === null) {
      if (state.epoch < this.bounds.epochs) yield step(state, 'an engine begins', (s) => this.begin(s));
      return;
    }
    for (const copy of engine.lost) {
      yield step(state, `copy ${nameOf(copy)} is dropped`, (s) => dropCopy(s, copy));
    }
    yield* this.writing(state, engine);
    if (engine.lost.length > 0) return;
    if (!engine.isEqual) yield step(state, 'the copies are made equal', (s) => equalise(s));
    if (engine.write !== null) return;
    yield* this.clearingIntent(state, engine);
    yield* this.marking(state, engine);
    yield* this.rebuilding(state, engine);
  }

  private *faults(state: DropState): Iterable<Step<DropState>> {
    for (const [copy, { isUp }] of state.copies.entries()) {
      if (copy === 0) continue;
      if (!isUp) {
        yield step(state, `copy ${nameOf(copy)} returns`, (s) => {
          at(s.copies, copy).isUp = true;
        });
        continue;
      }
      if (state.faults === this.bounds.faults) continue;
      yield step(state, `copy ${nameOf(copy)} is cut off`, (s) => lose(s, copy));
      yield step(state, `the process of copy ${nameOf(copy)} dies`, (s) => {
        const dead = at(s.copies, copy);
        dead.head = [...dead.flushed];
        lose(s, copy);
      });
    }
    if (state.engine === null || state.faults === this.bounds.faults) return;
    yield step(state, 'the engine dies', (s) => {
      s.engine = null;
      s.faults += 1;
    });
  }

  /** With the members that are there: at least half, as the other model has it. */
  private begin(state: DropState): void {
    const readable = state.members.filter((index) => at(state.copies, index).isUp);
    state.epoch += 1;
    const isEqual = readable.every((index) => at(state.copies, index).marks.length === 0);
    const dropped = state.members.filter((index) => !readable.includes(index));
    state.engine = { epoch: state.epoch, readable, lost: [], write: null, dropped, isEqual };
    state.members = readable;
    for (const index of readable) at(state.copies, index).recordEpoch = state.epoch;
  }

  private *writing(state: DropState, { write, readable, lost, isEqual }: Engine): Iterable<Step<DropState>> {
    if (write === null) {
      if (state.writes === this.bounds.writes || !isEqual) return;
      for (const block of BLOCKS) {
        yield step(state, `write ${state.writes + 1} of block ${block} is sent`, (s) => {
          s.writes += 1;
          running(s).write = { block, value: s.writes, has: [] };
        });
      }
      return;
    }
    for (const copy of readable.filter((index) => !write.has.includes(index) && !lost.includes(index))) {
      yield step(state, `write ${write.value} arrives at copy ${nameOf(copy)}`, (s) => {
        const written = at(s.copies, copy);
        if (this.holds('regions are marked before they are written')) {
          written.marks = [...new Set([...written.marks, write.block])].sort();
        }
        written.head[write.block] = write.value;
        running(s).write?.has.push(copy);
      });
    }
    if (!readable.every((index) => write.has.includes(index))) return;
    yield step(state, `write ${write.value} is acknowledged`, (s) => {
      running(s).write = null;
    });
  }

  private *clearingIntent(
    state: DropState,
    { readable, isEqual, dropped }: Engine,
  ): Iterable<Step<DropState>> {
    const mayForget = dropped.length === 0 || !this.holds('marks are kept until a drop is marked');
    const isMarked = readable.some((index) => at(state.copies, index).marks.length > 0);
    if (!isEqual || !mayForget || !isMarked) return;
    yield step(state, 'the marks of the copies are cleared', (s) => {
      for (const index of readable) {
        const told = at(s.copies, index);
        told.flushed = [...told.head];
        told.marks = [];
      }
    });
  }

  private *marking(state: DropState, engine: Engine): Iterable<Step<DropState>> {
    if (engine.dropped.length === 0 || state.layers === this.bounds.layers) return;
    if (!engine.isEqual && this.holds('copies are equal before a drop is marked')) return;
    yield step(state, `the drop of ${engine.dropped.map(nameOf)} is marked`, (s) => {
      const written = engine.readable.flatMap((index) => at(s.copies, index).marks);
      const regions = this.holds('a drop mark holds what was being written') ? [...new Set(written)] : [];
      const since = Math.max(...engine.dropped.map((index) => at(s.copies, index).recordEpoch));
      freeze(s, { replicas: engine.dropped.map(nameOf), regions, since });
      running(s).dropped = [];
    });
  }

  private *rebuilding(state: DropState, engine: Engine): Iterable<Step<DropState>> {
    if (engine.dropped.length > 0 || !engine.isEqual || state.layers === this.bounds.layers) return;
    for (const [copy, { isUp }] of state.copies.entries()) {
      if (!isUp || engine.readable.includes(copy)) continue;
      yield step(state, `copy ${nameOf(copy)} is rebuilt`, (s) => {
        freeze(s, null);
        const source = at(s.copies, running(s).readable[0] ?? 0);
        this.rebuild(source, at(s.copies, copy), nameOf(copy));
        at(s.copies, copy).recordEpoch = engine.epoch;
        running(s).readable = [...engine.readable, copy].sort();
        s.members = running(s).readable;
      });
    }
  }

  /** Does to the target what the real plan says. */
  private rebuild(source: Copy, target: Copy, name: string): void {
    const layers = source.layers.map((layer) => factsOf(layer));
    const own = target.layers.map((layer) => factsOf(layer));
    const marks = this.holds('what the returning copy was writing is compared too') ? target.marks : [];
    const plan = planLayers(
      layers,
      {
        replicaId: name,
        disk: 'filesystem',
        recordEpoch: target.recordEpoch,
        layers: own,
        head: { id: 'head', parentId: idOf(target.parent), heldBytes: heldBytes(target.head) },
        intent: runsOf(marks),
      },
      { fastRebuild: true },
    );
    const before = new Map([
      ['head', target.head],
      ...target.layers.map(({ id, held }) => [idOf(id), held] as const),
    ]);
    target.layers = source.layers.map((layer, index) => {
      const { from, method, regions } = at(plan, index);
      const base = (from === null ? undefined : before.get(from)) ?? nothing();
      const isCompared = (block: number) =>
        method !== 'fast' &&
        (regions === null || regions.some(({ runs }) => runs.some(([one]) => one === block)));
      return { ...layer, held: BLOCKS.map((block) => at(isCompared(block) ? layer.held : base, block)) };
    });
    target.parent = source.parent;
    target.head = nothing();
    target.flushed = nothing();
  }

  private holds(rule: DropRule): boolean {
    return this.without !== rule;
  }
}

function lose(state: DropState, copy: number): void {
  at(state.copies, copy).isUp = false;
  state.faults += 1;
  if (state.engine?.readable.includes(copy)) state.engine.lost.push(copy);
}

function dropCopy(state: DropState, copy: number): void {
  const engine = running(state);
  engine.readable = engine.readable.filter((index) => index !== copy);
  engine.lost = engine.lost.filter((index) => index !== copy);
  engine.dropped = [...engine.dropped, copy].sort();
  state.members = engine.readable;
}

/** In the regions that some copy has marked, all get what the first one has. */
function equalise(state: DropState): void {
  const engine = running(state);
  const copies = engine.readable.map((index) => at(state.copies, index));
  const marked = new Set(copies.flatMap(({ marks }) => marks));
  const [source] = copies;
  if (source === undefined) return;
  for (const copy of copies) {
    for (const block of marked) {
      if (at(readAll(copy), block) !== at(readAll(source), block))
        copy.head[block] = at(readAll(source), block);
    }
    copy.marks = [...marked].sort();
  }
  engine.isEqual = true;
}

/** Puts an empty head on the readable copies; what was written is flushed first. */
function freeze(state: DropState, drop: Drop | null): void {
  state.layers += 1;
  const id = state.layers;
  for (const index of running(state).readable) {
    const copy = at(state.copies, index);
    copy.layers = [...copy.layers, { id, parent: copy.parent, held: copy.head, drop }];
    copy.parent = id;
    copy.head = nothing();
    copy.flushed = nothing();
  }
}

/** What the device reads as, block by block. */
function readAll({ layers, head }: Copy): number[] {
  return BLOCKS.map((block) => {
    const newest = [...layers.map(({ held }) => held), head].findLast((held) => at(held, block) !== null);
    return (newest === undefined ? null : at(newest, block)) ?? 0;
  });
}

function factsOf({ id, parent, held, drop }: Layer): SourceLayer {
  return {
    id: idOf(id) ?? '',
    name: `layer ${id}`,
    parentId: idOf(parent),
    createdAt: '2026-01-01T00:00:00Z',
    heldBytes: heldBytes(held),
    checksum: null,
    ranges: false,
    drop: drop && { replicaIds: drop.replicas, regions: runsOf(drop.regions), sinceEpoch: drop.since },
  };
}

function idOf(layer: number): string;
function idOf(layer: number | null): string | null;
function idOf(layer: number | null): string | null {
  return layer === null ? null : `layer-${layer}`;
}

function runsOf(regions: readonly number[]): RegionRuns {
  return { regionBytes: BLOCK_BYTES, runs: regions.map((region) => [region, 1] as const) };
}

function heldBytes(held: Blocks): number {
  return held.filter((block) => block !== null).length * BLOCK_BYTES;
}

function nameOf(copy: number | undefined): string {
  return NAMES[copy ?? 0] ?? '';
}

function running({ engine }: DropState): Engine {
  if (engine === null) throw new Error('no engine runs');
  return engine;
}

function step(state: DropState, label: string, change: (next: DropState) => void): Step<DropState> {
  return {
    label,
    get state() {
      const next = copyOf(state);
      change(next);
      return next;
    },
  };
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
}
