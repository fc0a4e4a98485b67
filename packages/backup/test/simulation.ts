/**
 * Simulated histories of one repository: processes back up, delete, prune and restore at once, over a target that fails, loses answers and loses
 * what it said was done, and they die at any call. What was said complete, and was not deleted, reads as its snapshot at all times.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import { CallTurns } from '@holdfast/testkit/call-turns.js';
import { FakeTarget, type Fate, ProcessDied, type TargetCall } from '@holdfast/testkit/fake-target.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { backupVolume } from '../src/repository/backup-volume.js';
import { deleteBackup, prune } from '../src/repository/prune.js';
import { Repository } from '../src/repository/repository.js';
import { verify } from '../src/repository/verify.js';
import { RetryingStore } from '../src/store/retrying-store.js';
import { BLOCK, MemoryVolume, restored, unlock } from './volumes.js';

const BLOCKS = 24;
const STEPS = 8;
const CONTENTS = 12;

type Known = { readonly volumeId: string; readonly bytes: Buffer; isSaid: boolean; isDeleted: boolean };

/** What must be so, apart from the code that is tested: bytes of each snapshot that was given to a backup. */
export class History {
  readonly random: SeededRandom;
  readonly target: FakeTarget;
  readonly known = new Map<string, Known>();
  readonly outcomes = { backups: 0, restores: 0, prunes: 0, deaths: 0, refused: 0 };
  private readonly turns: CallTurns;
  private at = Date.parse('2026-01-01T00:00:00Z');
  private ids = 0;
  isCalm = false;

  constructor(readonly seed: number) {
    this.random = new SeededRandom(seed);
    this.turns = new CallTurns(this.random);
    this.target = new FakeTarget(this.now);
    this.target.listLag = this.random.chance(2) ? 0 : 6;
  }

  readonly now = (): Date => {
    this.at += 1000;
    return new Date(this.at);
  };

  /** Runs the processes to their end, and then looks at everything in calm. */
  async run(): Promise<void> {
    this.isCalm = true;
    await this.turns.runAll([this.create()]);
    this.isCalm = false;
    await this.turns.runAll(Array.from({ length: 3 }, (_, volume) => this.process(`volume-${volume % 2}`)));
    this.isCalm = true;
    await this.turns.runAll([this.judge()]);
  }

  private async create(): Promise<void> {
    const { unlock, ...given } = this.given();
    await Repository.create({
      ...given,
      unlock,
      projectId: 'project-1',
      hasConditionalPut: true,
      blockBytes: BLOCK,
      packBytesMax: 4 * BLOCK,
    });
  }

  private given() {
    const store = new RetryingStore(
      this.target.connect((call) => this.fateOf(call)),
      () => this.turns.turn(),
      6,
    );
    return { store, unlock, now: this.now, randomId: this.randomId };
  }

  private readonly randomId = (lengthBytes: number): string => {
    this.ids += 1;
    const noise = Array.from({ length: 4 }, () => this.random.below(256).toString(16).padStart(2, '0')).join(
      '',
    );
    return `${noise}${this.ids.toString(16).padStart(8, '0')}`
      .padEnd(2 * lengthBytes, '0')
      .slice(0, 2 * lengthBytes);
  };

  private async fateOf({ kind }: TargetCall): Promise<Fate> {
    await this.turns.turn();
    if (this.isCalm) return 'done';
    const roll = this.random.below(400);
    if (roll < 8) return 'fails';
    if (roll < 16) return 'answer-lost';
    if (roll < 20 && kind !== 'delete') return 'lost';
    if (roll < 22) return 'dies-before';
    return roll < 24 ? 'dies-after' : 'done';
  }

  /** One process after the other does some steps for a volume: where one dies, the next one begins. */
  private async process(volumeId: string): Promise<void> {
    const volume = new MemoryVolume(BLOCKS * BLOCK);
    let repository: Repository | undefined;
    for (let step = 0; step < STEPS; step += 1) {
      try {
        repository ??= await Repository.open(this.given());
        await this.step(repository, volumeId, volume);
      } catch (error) {
        repository = undefined;
        this.judgeFailure(error);
      }
    }
  }

  private judgeFailure(error: unknown): void {
    if (error instanceof ProcessDied) this.outcomes.deaths += 1;
    else if (isFault(error, 'backup.busy') || isFault(error, 'backup.target_unreachable'))
      this.outcomes.refused += 1;
    else throw error;
  }

  private async step(repository: Repository, volumeId: string, volume: MemoryVolume): Promise<void> {
    const kind = this.random.weighted({ backup: 5, prune: 3, restore: 3, delete: 2, reopen: 1 });
    if (kind === 'backup') await this.backUp(repository, volumeId, volume);
    else if (kind === 'prune') await this.prune(repository);
    else if (kind === 'restore') await this.restore(repository);
    else if (kind === 'delete') await this.delete(repository);
    else await repository.reload();
  }

  private async backUp(repository: Repository, volumeId: string, volume: MemoryVolume): Promise<void> {
    this.change(volume);
    const backupId = this.randomId(16);
    const snapshot = MemoryVolume.of(volume.bytes);
    const base = this.baseOf(volumeId, snapshot.bytes);
    this.known.set(backupId, { volumeId, bytes: snapshot.bytes, isSaid: false, isDeleted: false });
    const facts = { volumeId, volumeName: volumeId, snapshotName: 's' };
    const request = { ...facts, source: snapshot, backupId, tellEveryPacks: 1 + this.random.below(3) };
    try {
      await backupVolume(repository, base === undefined ? request : { ...request, base });
    } catch (error) {
      // The one that it builds on may have been deleted since.
      if (!isFault(error, 'backup.not_found')) throw error;
      await backupVolume(repository, request);
    }
    this.entry(backupId).isSaid = true;
    this.outcomes.backups += 1;
  }

  /** Few contents, so that they are found again in other backups, and come back after they were pruned. */
  private change(volume: MemoryVolume): void {
    for (let count = this.random.below(10); count > 0; count -= 1) {
      const content = this.random.below(CONTENTS);
      const offset = this.random.below(BLOCKS) * BLOCK;
      const bytes = Buffer.alloc(BLOCK, content === 0 ? 0 : `content ${content} `);
      if (this.random.chance(3)) bytes.writeUInt32LE(this.random.below(2 ** 31), 100);
      bytes.copy(volume.bytes, offset);
    }
  }

  /** Any older backup of the volume, with the blocks that differ. */
  private baseOf(volumeId: string, bytes: Buffer) {
    const older = [...this.known].filter(
      ([, one]) => one.volumeId === volumeId && one.isSaid && !one.isDeleted,
    );
    if (older.length === 0 || this.random.chance(3)) return undefined;
    const [backupId, { bytes: before }] = this.random.pick(older);
    const changed = Array.from({ length: BLOCKS }, (_, block) => block * BLOCK)
      .filter((at) => !before.subarray(at, at + BLOCK).equals(bytes.subarray(at, at + BLOCK)))
      .map((offset) => ({ offset, lengthBytes: BLOCK }));
    return { backupId, changed };
  }

  private async prune(repository: Repository): Promise<void> {
    const isHasty = this.random.chance(2);
    await prune(repository, {
      graceMs: isHasty ? 0 : 60_000,
      orphanAgeMs: isHasty ? 0 : 120_000,
      smallBytes: 2 * BLOCK,
      smallPacksMax: 3,
    });
    this.outcomes.prunes += 1;
  }

  private async restore(repository: Repository): Promise<void> {
    const said = [...this.known].filter(([, one]) => one.isSaid && !one.isDeleted);
    if (said.length === 0) return;
    const [backupId, one] = this.random.pick(said);
    try {
      await repository.refresh();
      this.compare(backupId, await restored(repository, backupId));
      this.outcomes.restores += 1;
    } catch (error) {
      // Another process may have deleted it while it was read.
      const isGone = isFault(error, 'backup.not_found') || isFault(error, 'backup.damaged');
      if (!isGone || !one.isDeleted) throw error;
    }
  }

  private async delete(repository: Repository): Promise<void> {
    const said = [...this.known].filter(([, one]) => one.isSaid && !one.isDeleted);
    if (said.length === 0) return;
    const [backupId, one] = this.random.pick(said);
    // From the request on nothing is promised of it.
    one.isDeleted = true;
    try {
      await deleteBackup(repository, backupId);
    } catch (error) {
      if (!isFault(error, 'backup.not_found')) throw error;
    }
  }

  private compare(backupId: string, bytes: Buffer): void {
    if (!bytes.equals(this.entry(backupId).bytes)) throw new Error(`backup ${backupId} has other bytes`);
  }

  private entry(backupId: string): Known {
    const found = this.known.get(backupId);
    if (found === undefined) throw new Error(`nothing is known of backup ${backupId}`);
    return found;
  }

  /** Everything that was said complete is whole, so is what is there without having been said, and nothing useless stays. */
  private async judge(): Promise<void> {
    this.target.listLag = 0;
    const repository = await Repository.open(this.given());
    for (const [backupId, { isSaid, isDeleted }] of this.known)
      if (isSaid && !isDeleted && !repository.state.backups.has(backupId))
        throw new Error(`backup ${backupId} was said complete, and is not there`);
    await this.judgeAll(repository);
    for (let round = 0; round < 3; round += 1)
      await prune(repository, { graceMs: 0, orphanAgeMs: 0, smallPacksMax: 3, smallBytes: 2 * BLOCK });
    await this.judgeAll(repository);
    this.judgeLeftovers(repository);
  }

  private async judgeAll(repository: Repository): Promise<void> {
    const report = await verify(repository);
    if (report.damagedBackups.length + report.damagedBlobs.length > 0)
      throw new Error(`damaged: ${JSON.stringify(report)}`);
    for (const backupId of repository.state.backups.keys())
      this.compare(backupId, await restored(repository, backupId));
  }

  private judgeLeftovers(repository: Repository): void {
    const packs = repository.indexedPacks();
    const manifests = new Set([...repository.state.backups.values()].map(({ manifest }) => manifest.name));
    const useless = [...this.target.objects.keys()].filter(
      (name) =>
        name.startsWith('data/') &&
        !packs.has(name.slice('data/'.length)) &&
        !repository.state.indexes.has(name) &&
        !manifests.has(name),
    );
    // What the last prune itself has just replaced is deleted by the next one.
    const left = useless.filter((name) => !repository.state.dead.has(name));
    if (left.length > 0) throw new Error(`left over: ${left.join(', ')}`);
  }
}
