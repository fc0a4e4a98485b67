/**
 * The journal: one numbered object for each change of a repository, each naming the one before. A conditional PUT gives a number to one writer
 * only, so that all of them see the same order, and nothing else locks anything. Records are never changed or deleted.
 *
 * A crash or a lost answer at any call leaves a record that is there or not. Who appended finds out by reading it back.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { damaged } from '../codec/damage.js';
import type { RepositoryKeys } from '../codec/keys.js';
import { digestOf, openObject, sealObject } from '../codec/sealed-object.js';
import {
  CHECKPOINT_BYTES_MAX,
  type ChangeBody,
  type JournalRecord,
  RECORD_BYTES_MAX,
  type TrustedHead,
} from '../model/format.js';
import { checkpointName, HINT, journalName } from '../model/names.js';
import {
  applyRecord,
  EMPTY_STATE,
  fromStored,
  objectionTo,
  type RepositoryState,
  type StoredState,
  toStored,
} from '../rules/repository-state.js';
import type { ObjectStore } from '../store/object-store.js';

/** Records between two checkpoints: so many are read at most, and a checkpoint takes some hundred bytes for each backup. */
const CHECKPOINT_EVERY = 32;
/** Attempts to append, each after reading what others have appended. Every lost attempt is a record of another writer. */
const APPEND_ATTEMPTS = 20;
/** A PUT that was said done may be lost: it is read back, and made again so often. */
const PUT_ATTEMPTS = 4;
const HINT_BYTES_MAX = 4096;

export type JournalOptions = {
  readonly now: () => Date;
  /** Whether the target keeps two writers from making the same object; without, only one may write at a time. */
  readonly hasConditionalPut: boolean;
  readonly randomId: (lengthBytes: number) => string;
  /** Told of each record that the state now contains, in order. */
  readonly onRecord?: (record: JournalRecord) => void;
};

export type StoredRecord = { readonly record: JournalRecord; readonly digest: string };

export class Journal {
  private current: RepositoryState = EMPTY_STATE;

  constructor(
    private readonly store: ObjectStore,
    private readonly keys: RepositoryKeys,
    private readonly options: JournalOptions,
  ) {}

  get state(): RepositoryState {
    return this.current;
  }

  get head(): TrustedHead {
    return { sequence: this.current.sequence, digest: this.current.headDigest };
  }

  /** Reads the state: the newest checkpoint that is known of, and what came after it. */
  async load(trusted?: TrustedHead): Promise<void> {
    this.current = (await this.checkpoint()) ?? EMPTY_STATE;
    await this.catchUp();
    if (this.current.sequence === 0) throw damaged('its journal is empty');
    if (trusted !== undefined) await this.compare(trusted);
  }

  /** Reads what was appended since. */
  async catchUp(): Promise<void> {
    for (;;) {
      const next = await this.read(this.current.sequence + 1);
      if (next === undefined) return;
      if (next.record.sequence > this.current.sequence) this.apply(next);
    }
  }

  /**
   * Appends one change. The decision is made over the newest state, and again where another writer was faster.
   *
   * @param decide the change over the present state; `undefined`: there is none to make any more
   * @throws StorageFault `backup.busy` where others were faster each time
   */
  async append(
    decide: (state: RepositoryState) => Promise<ChangeBody | undefined> | ChangeBody | undefined,
  ): Promise<ChangeBody | undefined> {
    for (let attempt = 0; attempt < APPEND_ATTEMPTS; attempt += 1) {
      const state = this.current;
      const body = await decide(state);
      if (body === undefined) return undefined;
      // Another caller of this process may have read on meanwhile: the decision is about an older state then.
      if (this.current !== state) continue;
      if (await this.tryAppend(body, state)) {
        await this.keepCheckpoint();
        return body;
      }
      await this.catchUp();
    }
    throw new StorageFault('backup.busy', { publicMessage: 'other writers were faster each time' });
  }

  /** @returns whether the record stands in the journal */
  private async tryAppend(body: ChangeBody, state: RepositoryState): Promise<boolean> {
    const sequence = state.sequence + 1;
    const record: JournalRecord = {
      sequence,
      previous: state.headDigest,
      at: this.options.now().toISOString(),
      nonce: this.options.randomId(16),
      body,
    };
    const name = journalName(sequence);
    const bytes = sealObject(this.keys, name, Buffer.from(JSON.stringify(record)));
    if (bytes.length > RECORD_BYTES_MAX)
      throw new StorageFault('backup.too_large', { publicMessage: 'a change is too large for the journal' });
    for (let attempt = 0; attempt < PUT_ATTEMPTS; attempt += 1) {
      if (!this.options.hasConditionalPut && (await this.read(sequence)) !== undefined) return false;
      await this.store.put(name, bytes, { ifAbsent: this.options.hasConditionalPut });
      // Whatever the answer was: an earlier attempt of ours may have been stored, and one that was said stored may be lost.
      const stored = await this.read(sequence);
      if (stored === undefined) continue;
      if (stored.record.nonce !== record.nonce) return false;
      this.apply(stored);
      return true;
    }
    throw new StorageFault('backup.target_unreachable', {
      publicMessage: `${name} was stored, but is not there`,
    });
  }

  async read(sequence: number): Promise<StoredRecord | undefined> {
    const name = journalName(sequence);
    const bytes = await this.store.get(name, RECORD_BYTES_MAX);
    if (bytes === undefined) return undefined;
    // The cast: what opens under this name was written by a holder of the key, in this form.
    const record = JSON.parse(openObject(this.keys, name, bytes).toString()) as JournalRecord;
    if (record.sequence !== sequence)
      throw damaged(`record ${record.sequence} stands where ${sequence} belongs`);
    return { record, digest: digestOf(bytes) };
  }

  private apply({ record, digest }: StoredRecord): void {
    // Two callers of this process may read on at once.
    if (record.sequence === this.current.sequence && digest === this.current.headDigest) return;
    const objection = objectionTo(this.current, record);
    if (objection !== undefined) throw damaged(objection);
    this.current = applyRecord(this.current, record, digest);
    this.options.onRecord?.(record);
  }

  /** @throws StorageFault `backup.repository_rolled_back` where the journal does not contain what the caller knows that it did */
  private async compare({ sequence, digest }: TrustedHead): Promise<void> {
    const found =
      sequence === this.current.sequence ? this.current.headDigest : (await this.read(sequence))?.digest;
    if (this.current.sequence >= sequence && found === digest) return;
    throw new StorageFault('backup.repository_rolled_back', {
      publicMessage: 'the repository was set back to an older state, or replaced',
      context: { known: sequence, found: this.current.sequence },
    });
  }

  /** The state that the hint leads to. A hint that is missing, old or broken costs reading more records. */
  private async checkpoint(): Promise<RepositoryState | undefined> {
    try {
      const hint = await this.store.get(HINT, HINT_BYTES_MAX);
      if (hint === undefined) return undefined;
      const name = openObject(this.keys, HINT, hint).toString();
      const bytes = await this.store.get(name, CHECKPOINT_BYTES_MAX);
      if (bytes === undefined) return undefined;
      // The cast: as above.
      return fromStored(JSON.parse(openObject(this.keys, name, bytes).toString()) as StoredState);
    } catch (error) {
      if (error instanceof StorageFault && error.code === 'backup.damaged') return undefined;
      throw error;
    }
  }

  private async keepCheckpoint(): Promise<void> {
    if (this.current.sequence % CHECKPOINT_EVERY === 0) await this.writeCheckpoint();
  }

  /** Failing is no harm: the one before is used. */
  async writeCheckpoint(): Promise<string | undefined> {
    const name = checkpointName(this.current.sequence, this.options.randomId(8));
    const bytes = Buffer.from(JSON.stringify(toStored(this.current)));
    if (bytes.length > CHECKPOINT_BYTES_MAX / 2) return undefined;
    try {
      await this.store.put(name, sealObject(this.keys, name, bytes));
      await this.store.put(HINT, sealObject(this.keys, HINT, Buffer.from(name)));
      return name;
    } catch {
      return undefined;
    }
  }
}
