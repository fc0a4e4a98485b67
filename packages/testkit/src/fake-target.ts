/** A backup target in memory, as bad as real ones are: each connection may fail, lose answers, or lose what was said done. */
import type { ObjectInfo, ObjectStore, PutOptions } from '@holdfast/backup/store/object-store.js';
import { full, refused, tooLarge, unreachable } from '@holdfast/backup/store/store-faults.js';

export type TargetCall = {
  readonly kind: 'get' | 'put' | 'head' | 'list' | 'delete';
  readonly name: string;
};

/**
 * What becomes of one call. `fails`: nothing is done, and it is told. `answer-lost`: it is done, and told as failed. `lost`: a change is told as
 * done, and is not. The process dies `before` or `after` the call.
 */
export type Fate = 'done' | 'fails' | 'answer-lost' | 'lost' | 'dies-before' | 'dies-after';

/** The process that made the call has died with it: no code of it may go on as if a target had failed. */
export class ProcessDied extends Error {}

type StoredObject = { bytes: Buffer; modifiedAt: Date; lockedUntil?: Date | undefined };

export class FakeTarget {
  readonly objects = new Map<string, StoredObject>();
  /** Number of calls by kind, over all connections. */
  readonly calls: Record<TargetCall['kind'], number> = { get: 0, put: 0, head: 0, list: 0, delete: 0 };
  hasConditionalPut = true;
  hasObjectLock = false;
  isReadOnly = false;
  capacityBytes = Number.POSITIVE_INFINITY;
  clockSkewMs = 0;
  /** Changes that a listing does not know of yet. */
  listLag = 0;
  private readonly history: Map<string, StoredObject>[] = [];

  constructor(readonly now: () => Date = () => new Date()) {}

  /** @param fateOf decides each call's fate, and may keep it waiting */
  connect(fateOf: (call: TargetCall) => Promise<Fate> | Fate = () => 'done'): ObjectStore {
    return new Connection(this, fateOf);
  }

  /** Called before each change, so that listings may tell of older times. */
  remember(): void {
    if (this.listLag === 0) return;
    this.history.push(new Map(this.objects));
    if (this.history.length > this.listLag) this.history.shift();
  }

  listed(): ReadonlyMap<string, StoredObject> {
    return this.listLag === 0 ? this.objects : (this.history[0] ?? this.objects);
  }

  usedBytes(): number {
    return [...this.objects.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

class Connection implements ObjectStore {
  readonly description = 'fake://target';
  private isDead = false;
  readonly lock?: (name: string, until: Date) => Promise<void>;

  constructor(
    private readonly target: FakeTarget,
    private readonly fateOf: (call: TargetCall) => Promise<Fate> | Fate,
  ) {
    if (target.hasObjectLock)
      this.lock = async (name, lockedUntil) => {
        const found = target.objects.get(name);
        if (found !== undefined) target.objects.set(name, { ...found, lockedUntil });
      };
  }

  get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.called({ kind: 'get', name }, undefined, () => {
      const bytes = this.target.objects.get(name)?.bytes;
      if (bytes !== undefined && bytes.length > bytesMax) throw tooLarge(name, bytes.length, bytesMax);
      return bytes === undefined ? undefined : Buffer.from(bytes);
    });
  }

  getRange(name: string, offset: number, lengthBytes: number): Promise<Buffer | undefined> {
    return this.called({ kind: 'get', name }, undefined, () => {
      const bytes = this.target.objects.get(name)?.bytes;
      if (bytes === undefined || bytes.length < offset + lengthBytes) return undefined;
      return Buffer.from(bytes.subarray(offset, offset + lengthBytes));
    });
  }

  put(
    name: string,
    bytes: Buffer,
    { ifAbsent = false, lockedUntil }: PutOptions = {},
  ): Promise<'stored' | 'exists'> {
    const { target } = this;
    return this.called<'stored' | 'exists'>({ kind: 'put', name }, 'stored', () => {
      if (target.isReadOnly) throw refused('read-only');
      if (ifAbsent && target.hasConditionalPut && target.objects.has(name)) return 'exists';
      if (target.usedBytes() + bytes.length > target.capacityBytes) throw full();
      target.remember();
      const modifiedAt = new Date(target.now().getTime() + target.clockSkewMs);
      // A copy: the caller fills its buffer anew.
      target.objects.set(name, { bytes: Buffer.from(bytes), modifiedAt, lockedUntil });
      return 'stored';
    });
  }

  head(name: string): Promise<ObjectInfo | undefined> {
    return this.called({ kind: 'head', name }, undefined, () => {
      const found = this.target.objects.get(name);
      return found === undefined ? undefined : infoOf(name, found);
    });
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    yield* await this.called({ kind: 'list', name: prefix }, [], () =>
      [...this.target.listed()]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, found]) => infoOf(name, found)),
    );
  }

  delete(name: string): Promise<'deleted' | 'locked'> {
    const { target } = this;
    return this.called<'deleted' | 'locked'>({ kind: 'delete', name }, 'deleted', () => {
      if (target.isReadOnly) throw refused('read-only');
      const until = target.objects.get(name)?.lockedUntil;
      if (until !== undefined && target.hasObjectLock && until > target.now()) return 'locked';
      target.remember();
      target.objects.delete(name);
      return 'deleted';
    });
  }

  close(): void {}

  private async called<Value>(call: TargetCall, lost: Value, work: () => Value): Promise<Value> {
    this.target.calls[call.kind] += 1;
    if (this.isDead) throw new ProcessDied();
    const fate = await this.fateOf(call);
    const isChange = call.kind === 'put' || call.kind === 'delete';
    if (fate === 'dies-before') this.die();
    if (fate === 'fails') throw unreachable('SlowDown (503)');
    if (fate === 'lost' && isChange) return lost;
    const value = work();
    if (fate === 'dies-after') this.die();
    if (fate === 'answer-lost') throw unreachable('the answer was cut off');
    return value;
  }

  private die(): never {
    this.isDead = true;
    throw new ProcessDied();
  }
}

function infoOf(name: string, { bytes, modifiedAt }: StoredObject): ObjectInfo {
  return { name, sizeBytes: bytes.length, modifiedAt };
}
