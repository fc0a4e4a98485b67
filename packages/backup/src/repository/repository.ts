/** An opened repository: its keys, its journal, and where each of its blobs lies. */
import { randomBytes } from 'node:crypto';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { z } from 'zod';
import { damaged } from '../codec/damage.js';
import { decodeIndex } from '../codec/index-file.js';
import {
  newDataKey,
  RepositoryKeys,
  type Unlock,
  unwrapKey,
  type WrappedKey,
  wrapKey,
} from '../codec/keys.js';
import { digestOf, openObject } from '../codec/sealed-object.js';
import {
  BLOCK_BYTES,
  BLOCK_BYTES_MAX,
  BLOCK_BYTES_MIN,
  CONFIGURATION_BYTES_MAX,
  FORMAT_NAME,
  FORMAT_VERSION,
  INDEX_BYTES_MAX,
  type IndexEntry,
  type JournalRecord,
  type ObjectReference,
  PACK_BYTES_MAX,
  type TrustedHead,
} from '../model/format.js';
import { CONFIGURATION } from '../model/names.js';
import type { RepositoryState } from '../rules/repository-state.js';
import type { ObjectStore } from '../store/object-store.js';
import { type BlockCoder, InlineCoder } from '../threads/block-coder.js';
import { BlobTable } from './blob-table.js';
import { Journal } from './journal.js';
import { RunWriter, type WrittenIndex } from './run-writer.js';

const wrappedKeySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('passphrase'),
    kdf: z.literal('scrypt'),
    n: z.int().positive(),
    r: z.int().positive(),
    p: z.int().positive(),
    salt: z.string(),
    wrapped: z.string(),
  }),
  z.object({ kind: z.literal('service'), keyName: z.string(), wrapped: z.string() }),
]);

const factsSchema = z.object({
  format: z.literal(FORMAT_NAME),
  version: z.int(),
  repositoryId: z.string().regex(/^[0-9a-f]{32}$/),
  /** Whose it is, as the control plane names projects. Blocks are shared within one repository only. */
  projectId: z.string().max(200),
  blockBytes: z.int().min(BLOCK_BYTES_MIN).max(BLOCK_BYTES_MAX),
  packBytesMax: z.int().positive().max(PACK_BYTES_MAX),
  hasConditionalPut: z.boolean(),
  createdAt: z.string(),
});

const configurationSchema = factsSchema.extend({ keys: z.array(wrappedKeySchema).max(16), mac: z.string() });

export type RepositoryFacts = z.infer<typeof factsSchema>;
type Configuration = z.infer<typeof configurationSchema>;

export type OpenOptions = {
  readonly store: ObjectStore;
  readonly unlock: Unlock;
  readonly now: () => Date;
  /** Project that must own the repository; left out: any that has its key. */
  readonly projectId?: string;
  /** What the caller remembers of it. */
  readonly trusted?: TrustedHead;
  /** Left out: on the calling thread. The caller closes it. */
  readonly coder?: BlockCoder;
  /** Indexes that are missing or changed are left out instead of refused: for a repair, and for what looks for damage. */
  readonly toleratesDamage?: boolean;
  /** Of names and ids, in tests; left out: those of Node. Keys and nonces never come from it. */
  readonly randomId?: (lengthBytes: number) => string;
};

const randomHex = (lengthBytes: number): string => randomBytes(lengthBytes).toString('hex');

export type CreateOptions = Omit<OpenOptions, 'trusted' | 'projectId'> & {
  readonly projectId: string;
  /** Of the target's test. Without, the caller makes sure that one process writes at a time. */
  readonly hasConditionalPut: boolean;
  readonly blockBytes?: number;
  readonly packBytesMax?: number;
};

/** Attempts to read an index while prunes replace them. */
const LOAD_ATTEMPTS = 5;
/** Attempts to read what other processes delete meanwhile: each of them is a backup or a prune that has ended. */
const STEADY_ATTEMPTS = 10;

export class Repository {
  blobs = new BlobTable();
  readonly coder: BlockCoder;
  readonly randomId: (lengthBytes: number) => string;
  /** Indexes that are in `blobs`, and the packs of each. */
  private loaded = new Map<string, ReadonlySet<string>>();
  private turn: Promise<void> = Promise.resolve();

  /** Records that the table of blobs does not follow yet. */
  private readonly unfollowed: JournalRecord[] = [];
  readonly journal: Journal;

  private constructor(
    readonly facts: RepositoryFacts,
    readonly keys: RepositoryKeys,
    private readonly options: OpenOptions,
  ) {
    this.coder = options.coder ?? new InlineCoder();
    this.randomId = options.randomId ?? randomHex;
    this.journal = new Journal(options.store, keys, {
      now: options.now,
      hasConditionalPut: facts.hasConditionalPut,
      randomId: this.randomId,
      onRecord: (record) => this.unfollowed.push(record),
    });
  }

  /** @throws StorageFault `backup.repository_exists`, and what the store throws */
  static async create(options: CreateOptions): Promise<Repository> {
    const { store, unlock, now, projectId, hasConditionalPut } = options;
    const dataKey = newDataKey();
    const facts: RepositoryFacts = {
      format: FORMAT_NAME,
      version: FORMAT_VERSION,
      repositoryId: (options.randomId ?? randomHex)(16),
      projectId,
      blockBytes: options.blockBytes ?? BLOCK_BYTES,
      packBytesMax: options.packBytesMax ?? PACK_BYTES_MAX,
      hasConditionalPut,
      createdAt: now().toISOString(),
    };
    const keys = new RepositoryKeys(dataKey, facts.repositoryId);
    await putConfiguration(store, facts, [await wrapKey(dataKey, unlock)], keys);
    const repository = new Repository(facts, keys, options);
    // A crash before leaves a configuration without a journal, which the next creation takes over.
    await repository.journal.append(({ sequence }) =>
      sequence === 0 ? { kind: 'repository-created' } : undefined,
    );
    return repository;
  }

  /** @throws StorageFault `backup.repository_not_found`, `…_newer`, `…_foreign`, `…_rolled_back`, `backup.wrong_key`, `backup.damaged` */
  static async open(options: OpenOptions): Promise<Repository> {
    const { store, unlock, projectId, trusted } = options;
    const configuration = await readConfiguration(store);
    const { keys: wrapped, mac, ...facts } = configuration;
    const keys = new RepositoryKeys(await unwrapKey(wrapped, unlock), facts.repositoryId);
    if (keys.macOf(textOf(facts)) !== mac) throw damaged(`${CONFIGURATION} was changed`);
    if (projectId !== undefined && projectId !== facts.projectId)
      throw new StorageFault('backup.repository_foreign', {
        publicMessage: "the repository is another project's",
      });
    const repository = new Repository(facts, keys, options);
    await repository.journal.load(trusted);
    await repository.reload();
    return repository;
  }

  get store(): ObjectStore {
    return this.options.store;
  }

  get now(): Date {
    return this.options.now();
  }

  get state(): RepositoryState {
    return this.journal.state;
  }

  newRun(lockedUntil?: Date): RunWriter {
    const { packBytesMax } = this.facts;
    return new RunWriter(this.store, this.keys, {
      packBytesMax,
      run: this.randomId(16),
      ...(lockedUntil === undefined ? {} : { lockedUntil }),
    });
  }

  /** Reads what has changed, and where blobs lie now. */
  async refresh(): Promise<void> {
    await this.journal.catchUp();
    await this.sync();
  }

  /** Brings the table of blobs to what the journal says. */
  sync(): Promise<void> {
    return this.inTurn(async () => {
      const records = this.unfollowed.splice(0);
      // What an index no longer has must not stay known.
      if (records.some(({ body }) => body.kind === 'indexes-replaced')) return this.loadAnew();
      await this.loadIndexes(this.blobs, this.loaded);
      for (const { body } of records) if (body.kind === 'packs-dead') this.blobs.drop(new Set(body.packs));
    });
  }

  /** Reads all indexes anew. */
  async reload(): Promise<void> {
    await this.journal.catchUp();
    await this.inTurn(() => this.loadAnew());
  }

  /** One change of the table at a time: a caller that goes on must see all of the change that it waited for. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.turn.then(work);
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  /** Readers keep the table that they have until the new one is whole. */
  private async loadAnew(): Promise<void> {
    this.unfollowed.splice(0);
    const blobs = new BlobTable();
    const loaded = new Map<string, ReadonlySet<string>>();
    await this.loadIndexes(blobs, loaded);
    this.blobs = blobs;
    this.loaded = loaded;
  }

  /** Takes over an index that was just written, without reading it back. */
  adopt({ reference, entries }: WrittenIndex): void {
    this.loaded.set(reference.name, keep(entries, this.blobs, this.state));
  }

  /**
   * Does work that reads what the journal names. Where something is missing, and the journal went on meanwhile, it may have been replaced or
   * deleted since: then the work is done again over the newer state.
   */
  async steadily<Value>(work: () => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      const before = this.state.sequence;
      try {
        return await work();
      } catch (error) {
        if (!isFault(error, 'backup.damaged') || attempt >= STEADY_ATTEMPTS) throw error;
        await this.reload();
        if (this.state.sequence === before) throw error;
      }
    }
  }

  /** Packs of each index that is in use. */
  packsOfIndexes(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.loaded;
  }

  indexedPacks(): Set<string> {
    return new Set([...this.loaded.values()].flatMap((packs) => [...packs]));
  }

  private async loadIndexes(blobs: BlobTable, loaded: Map<string, ReadonlySet<string>>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        for (const name of [...loaded.keys()]) if (!this.state.indexes.has(name)) loaded.delete(name);
        for (const reference of this.state.indexes.values()) {
          if (loaded.has(reference.name)) continue;
          const entries = await this.readOrLeaveOut(reference);
          loaded.set(reference.name, keep(entries, blobs, this.state));
        }
        return;
      } catch (error) {
        const before = this.state.sequence;
        await this.journal.catchUp();
        // It may have been replaced, and deleted, since its name was read.
        if (attempt >= LOAD_ATTEMPTS || this.state.sequence === before) throw error;
      }
    }
  }

  private async readOrLeaveOut(reference: ObjectReference): Promise<IndexEntry[]> {
    if (this.options.toleratesDamage !== true) return this.readIndex(reference);
    return this.readIndex(reference).catch((error: unknown) => {
      if (isFault(error, 'backup.damaged')) return [];
      throw error;
    });
  }

  /** @throws StorageFault `backup.damaged` where it is missing, or is not what the journal names */
  async readIndex(reference: ObjectReference): Promise<IndexEntry[]> {
    const bytes = await this.readNamed(reference, INDEX_BYTES_MAX);
    return decodeIndex(bytes);
  }

  async readNamed({ name, digest }: ObjectReference, bytesMax: number): Promise<Buffer> {
    const bytes = await this.store.get(name, bytesMax);
    if (bytes === undefined) throw damaged(`${name} is missing`);
    if (digestOf(bytes) !== digest) throw damaged(`${name} is not the one that the journal names`);
    return openObject(this.keys, name, bytes);
  }
}

/** @returns the packs that the entries lie in */
function keep(entries: readonly IndexEntry[], blobs: BlobTable, state: RepositoryState): ReadonlySet<string> {
  for (const entry of entries) {
    const known = blobs.find(entry.id);
    // A pack that is to go is the worse place.
    if (known === undefined || state.condemned.has(known.pack)) blobs.set(entry);
  }
  return new Set(entries.map(({ pack }) => pack));
}

/** What the proof of a configuration is made over: all but wrapped keys, which prove what they are when they open. */
function textOf(facts: RepositoryFacts): string {
  return JSON.stringify(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function putConfiguration(
  store: ObjectStore,
  facts: RepositoryFacts,
  wrapped: readonly WrappedKey[],
  keys: RepositoryKeys,
): Promise<void> {
  const configuration: Configuration = { ...facts, keys: [...wrapped], mac: keys.macOf(textOf(facts)) };
  const bytes = Buffer.from(`${JSON.stringify(configuration, null, 2)}\n`);
  const isThere = async () => (await store.get(CONFIGURATION, CONFIGURATION_BYTES_MAX)) !== undefined;
  if (!facts.hasConditionalPut && (await isThere())) throw exists();
  await store.put(CONFIGURATION, bytes, { ifAbsent: facts.hasConditionalPut });
  // The answer of a repeated PUT does not tell whose it is that is there, and one that was said done may be lost.
  const stored = await store.get(CONFIGURATION, CONFIGURATION_BYTES_MAX);
  if (stored === undefined)
    throw new StorageFault('backup.target_unreachable', {
      publicMessage: `${CONFIGURATION} was stored, but is not there`,
    });
  if (!stored.equals(bytes)) throw exists();
}

const exists = () =>
  new StorageFault('backup.repository_exists', {
    publicMessage: 'there is a repository at the target already',
  });

async function readConfiguration(store: ObjectStore): Promise<Configuration> {
  const bytes = await store.get(CONFIGURATION, CONFIGURATION_BYTES_MAX);
  if (bytes === undefined)
    throw new StorageFault('backup.repository_not_found', {
      publicMessage: `there is no backup repository at ${store.description}`,
    });
  let given: unknown;
  try {
    given = JSON.parse(bytes.toString());
  } catch (error) {
    throw damaged(`${CONFIGURATION} is no JSON`, error);
  }
  const version = z.object({ format: z.literal(FORMAT_NAME), version: z.int() }).safeParse(given);
  if (version.success && version.data.version > FORMAT_VERSION)
    throw new StorageFault('backup.repository_newer', {
      publicMessage: `the repository has format ${version.data.version}; this version reads up to ${FORMAT_VERSION}`,
    });
  const parsed = configurationSchema.safeParse(given);
  if (!parsed.success) throw damaged(`${CONFIGURATION} is not in its form`, parsed.error);
  return parsed.data;
}
