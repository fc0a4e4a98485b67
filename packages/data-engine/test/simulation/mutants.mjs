// Mutants of the simulation: rules of the data path, each broken as it once was, or as it could be. Each `find` text
// must occur exactly once in its file, or the test that uses it fails: a mutant can't go stale unnoticed.

const REPLICA = 'data-engine/src/replica';
const LAYERS = 'data-engine/src/layers';
const ENGINE = 'data-engine/src/engine';

/** Mutants that are found by this seed are tried in each quick test run. */
export const QUICK_SEED_MAX = 13;

/**
 * `{ name, seed, faults, hole, changes }`: `hole` says in one sentence what is wrong then, `seed` is the first one that finds it,
 * `faults` are the kinds of faults that show it soonest (`copy`: the lives of a single copy), and `changes` are the text replacements that cause it. `isByHand`: another
 * rule covers most of it, so that it takes more seeds than a run of the tests has time for, and has no `seed`.
 */
export const MUTANTS = [
  {
    name: 'sync-past-the-queue',
    seed: 194,
    faults: ['blackoutWhenOwed'],
    hole: 'a flush that finds another one under way is answered before it is true',
    changes: [
      { file: `${LAYERS}/layer.ts`, find: 'return this.flushes.run();', replace: 'return this.store();' },
    ],
  },
  {
    name: 'flush-begun-in-between',
    seed: 1575,
    faults: ['copy'],
    hole: 'a flush begins between the end of one and the begin of the one that waits behind it',
    changes: [
      {
        file: 'data-engine/src/base/shared-flush.ts',
        find: 'this.running === running && this.next === undefined',
        replace: 'this.running === running',
      },
    ],
  },
  {
    name: 'bytes-that-a-dead-process-knew-lost',
    seed: 950,
    faults: ['copy'],
    hole: 'a copy believes what the page cache shows, though a process that has died was told that the disk lacks it',
    changes: [
      { file: 'data-engine/src/disk/block-file.ts', find: 'opened.mayShowLostBytes = true;', replace: '' },
    ],
  },
  {
    name: 'punch-before-durable',
    seed: 317,
    faults: ['blackoutAtPunch'],
    hole: 'a purge gives a block back before what replaces it in the head is durable',
    changes: [{ file: `${LAYERS}/purge-layer.ts`, find: 'await head.flush();', replace: '' }],
  },
  {
    name: 'block-disk-notes-early',
    seed: 12,
    faults: ['blackoutWhenOwed'],
    disks: 'block',
    hole: 'on a block disk a write is noted before it is done, and a sync that began in between takes the note away',
    changes: [
      {
        file: 'data-engine/src/disk/block/block-copy-file.ts',
        find: `      try {
        await change();
      } finally {
        this.owner.noteWritten();
      }`,
        replace: `      this.owner.noteWritten();
      await change();`,
      },
    ],
  },
  {
    name: 'marks-cleared-without-proof',
    seed: 682,
    faults: ['slowTakeover'],
    hole: 'marks are cleared before resync has looked at them, or while a drop is not marked yet',
    changes: [
      {
        file: `${ENGINE}/clear-intent.ts`,
        find: 'if (this.running || !this.isProven()) return;',
        replace: 'if (this.running) return;',
      },
      { file: `${ENGINE}/clear-intent.ts`, find: 'if (!this.isProven()) return false;', replace: '' },
      { file: `${ENGINE}/clear-intent.ts`, find: '      await this.device.flush();\n', replace: '' },
      { file: `${ENGINE}/engine.ts`, find: 'if (!this.isOpen) return;\n', replace: '' },
    ],
  },
  {
    name: 'late-message-clears-newer-marks',
    seed: 19,
    faults: ['holdCommand'],
    hole: 'a message that clears marks and comes late takes those of newer changes',
    changes: [
      {
        file: `${REPLICA}/replica.ts`,
        find: 'if (ask?.marker !== undefined)',
        replace: 'if (ask?.marker === null)',
      },
    ],
  },
  {
    name: 'an-older-engine-takes-the-copy',
    seed: 10,
    faults: ['commandStorm', 'slowTakeover', 'isolateEngine'],
    hole: 'a copy that a newer engine has opened is opened by an older one, whose command was late',
    changes: [
      {
        file: `${REPLICA}/copy-fence.ts`,
        find: 'if (epoch < newest) throw staleEpoch(epoch, newest);',
        replace: '',
      },
    ],
  },
  {
    name: 'done-twice',
    seed: 13,
    faults: ['doubleInRebuild'],
    hole: 'a command that is delivered twice is done twice',
    changes: [
      {
        file: `${REPLICA}/copy-fence.ts`,
        find: 'const now = this.stored().layers.at(-1)?.id;',
        replace: 'return false; const now = this.stored().layers.at(-1)?.id;',
      },
      {
        file: `${REPLICA}/layer-changes.ts`,
        find: 'if (ask?.headId === undefined && isSame) return true;',
        replace: 'return false;',
      },
    ],
  },
  {
    name: 'target-keeps-a-refused-write',
    seed: 683,
    faults: ['fullInRebuild'],
    hole: "a rebuild's target keeps what all full copies have refused",
    changes: [
      {
        file: `${ENGINE}/equalise.ts`,
        find: "copies.withMode('WO').map((link) => putDiffering",
        replace: '[].map((link) => putDiffering',
      },
    ],
  },
  {
    name: 'a-failed-sync-is-forgotten',
    seed: 155,
    faults: ['syncFails', 'killEngine', 'powerCut'],
    hole: 'a flush after one that failed succeeds without the data',
    changes: [
      {
        file: 'data-engine/src/base/shared-flush.ts',
        find: 'if (this.isFinal(error)) this.fail(error);',
        replace: '',
      },
      {
        file: `${REPLICA}/replica.ts`,
        find: 'if (!isRefusedWrite(error)) this.failed(error);',
        replace: '',
      },
    ],
  },
  {
    name: 'background-sync-error-swallowed',
    seed: 86,
    faults: ['writebackFails', 'syncFails', 'powerCut'],
    disks: 'folder',
    hole: 'a sync that a file began in the background fails, and nobody is told: later flushes are answered',
    changes: [
      {
        file: `${REPLICA}/replica-state.ts`,
        find: 'files.onLost = (failure) => this.fail(failure);',
        replace: '',
      },
      {
        file: `${REPLICA}/replica-state.ts`,
        find: 'return this.failure !== undefined || this.files.hasFailed;',
        replace: 'return this.failure !== undefined;',
      },
      {
        file: 'data-engine/src/disk/block-file.ts',
        find: 'private readonly syncs = new SharedFlush(() => this.syncOnce());',
        replace: `private readonly syncs = new SharedFlush(
    () => this.syncOnce(),
    () => false,
  );`,
      },
    ],
  },
  {
    name: 'failed-clear-undone-in-memory',
    seed: 39,
    faults: ['syncFails', 'writebackFails', 'slowTakeover', 'blackout', 'powerCut'],
    disks: 'folder',
    hole: 'marks whose clearing failed to be stored are set in memory again, as if the disk had them',
    changes: [
      {
        file: `${REPLICA}/intent-map.ts`,
        find: 'this.storing = stored.catch(() => undefined);',
        replace:
          'this.storing = stored.catch(() => { for (const region of cleared) setBit(this.durable, region); });',
      },
      {
        file: `${REPLICA}/intent-map.ts`,
        find: 'if (!isRefusedWrite(error)) this.onLost(error);',
        replace: '',
      },
      {
        file: `${REPLICA}/replica-state.ts`,
        find: 'intent.onLost = (failure) => this.fail(failure);',
        replace: '',
      },
      {
        file: `${REPLICA}/replica-state.ts`,
        find: 'files.onLost = (failure) => this.fail(failure);',
        replace: '',
      },
    ],
  },
  {
    name: 'hole-in-a-map-is-nothing',
    seed: 72,
    faults: ['mapHole', 'killEngine'],
    disks: 'folder',
    hole: 'zeros at the start of a map are believed: the layer holds nothing there',
    changes: [
      {
        file: `${LAYERS}/map-file.ts`,
        find: 'index === undefined ? isOld',
        replace: 'index === undefined ? true',
      },
    ],
  },
  {
    name: 'one-epoch-two-grants',
    seed: 41,
    faults: ['loseTakeover'],
    hole: 'a database that lost commits grants one epoch twice, and a copy serves both',
    changes: [
      {
        file: `${REPLICA}/copy-fence.ts`,
        find: 'if (epoch === newest && isOther) throw',
        replace: 'if (false) throw',
      },
    ],
  },
  {
    name: 'set-back-and-believed',
    seed: 6,
    faults: ['rollBack', 'killEngine'],
    hole: 'a copy that was put back to an earlier state is taken for current because the newest record names it',
    changes: [
      {
        file: 'core/src/model/copy-record.ts',
        find: 'return own !== undefined && isSetBack(own, durable);',
        replace: 'return false;',
      },
    ],
  },
  {
    name: 'reads-without-a-lease',
    seed: 4,
    faults: ['isolateEngine'],
    hole: 'an engine that was cut off answers reads for ever',
    changes: [
      {
        file: `${ENGINE}/lease.ts`,
        find: 'if (nowMs < this.untilMs) return true;',
        replace: 'if (nowMs >= 0) return true;',
      },
      {
        file: `${ENGINE}/lease.ts`,
        find: 'if (link === undefined || link.lost !== undefined || link.mode ===',
        replace: 'if (nowMs >= 0 || link === undefined || link.lost !== undefined || link.mode ===',
      },
    ],
  },
  {
    name: 'torn-reads',
    seed: 12,
    faults: ['killHost'],
    hole: 'a read beside a write of the same block shows half of it',
    changes: [
      {
        file: `${REPLICA}/read-write-overlap.ts`,
        find: 'return this.writes.size === 0 || !overlaps(this.writes, start, end);',
        replace: 'return true;',
      },
      {
        file: `${REPLICA}/read-write-overlap.ts`,
        find: 'if (!reading.isDisturbed) return result;',
        replace: 'return result;',
      },
    ],
  },
  {
    name: 'removed-whatever-it-is',
    seed: 108,
    faults: ['replaceLate'],
    hole: 'a worker that stood still removes a copy that has become current again',
    changes: [
      {
        file: 'core/src/model/copy-removal.ts',
        find: 'if (expected !== undefined) return sameState(found, expected);',
        replace: 'if (expected !== undefined) return true;',
      },
    ],
  },
  {
    name: 'sources-with-other-layers',
    isByHand: true,
    faults: ['writeFails', 'syncFails', 'killHost'],
    hole: 'a rebuild reads from a copy that has a layer which its target was not prepared for',
    changes: [
      {
        file: `${ENGINE}/rebuild-run.ts`,
        find: 'chainUpTo(layers, top).every(({ id }) => ids.has(id));',
        replace: 'true;',
      },
    ],
  },
];
