// Faults of the data engine: copies, their layers and their disks.
export const COPY_FAULTS = [
  {
    name: 'one-failure-begins-the-next',
    breaks: 'nothing more begins once one of several works has failed',
    file: 'packages/data-engine/src/base/in-flight.ts',
    changes: [{ find: '!next.done && failures.length === 0', replace: '!next.done' }],
    foundBy: 'packages/data-engine/src/base/in-flight.test.ts',
  },
  {
    name: 'first-failed-close-leaks-the-rest',
    breaks: 'everything is closed though one closing fails',
    file: 'packages/data-engine/src/base/close-all.ts',
    changes: [
      {
        find: 'await one.close().catch((error: unknown) => void failures.push(error));',
        replace: 'await one.close();',
      },
    ],
    foundBy: 'packages/data-engine/src/base/close-all.test.ts',
  },
  {
    name: 'blank-roots-are-a-free-slot',
    breaks: 'zeros where the roots of a copy were are damage',
    file: 'packages/data-engine/src/disk/block/stored-copy.ts',
    changes: [{ find: 'disk.layout.format < FIRST_FULL_ROOTS);', replace: 'true);' }],
    foundBy: 'packages/data-engine/src/replica/rot.test.ts',
  },
  {
    name: 'blank-marks-are-believed',
    breaks: 'zeros at the start of a map are damage',
    file: 'packages/data-engine/src/layers/map-file.ts',
    changes: [{ find: 'index === undefined ? isOld', replace: 'index === undefined ? true' }],
    foundBy: 'packages/data-engine/src/replica/rot.test.ts',
  },
  {
    name: 'file-syncs-itself-past-its-queue',
    breaks: 'a FLUSH beside a sync that the file began by itself fails with it',
    file: 'packages/data-engine/src/disk/block-file.ts',
    changes: [
      {
        find: 'return this.use(() => this.syncs.run());',
        replace: 'return this.use(() => this.syncOnce());',
      },
    ],
    foundBy: 'packages/data-engine/src/replica/durability.test.ts',
  },
  {
    name: 'background-error-is-swallowed',
    breaks: 'a sync that fails ends the copy, though no caller asked for it',
    file: 'packages/data-engine/src/replica/replica-state.ts',
    changes: [{ find: 'files.onLost = (failure) => this.fail(failure);', replace: '' }],
    foundBy: 'packages/data-engine/src/replica/durability.test.ts',
  },
  {
    name: 'failed-clear-is-taken-back',
    breaks: 'marks whose clear failed to be stored stay clear in memory',
    file: 'packages/data-engine/src/replica/intent-map.ts',
    changes: [
      {
        find: 'this.storing = stored.catch(() => undefined);',
        replace:
          'this.storing = stored.catch(() => { for (const region of cleared) setBit(this.durable, region); });',
      },
    ],
    foundBy: 'packages/data-engine/src/replica/durability.test.ts',
  },
  {
    name: 'memory-without-a-bound',
    breaks: 'no more is written into memory than a sync is allowed to take',
    file: 'packages/data-engine/src/disk/write-back-budget.ts',
    changes: [
      { find: 'if (this.taken - this.durable + cost > this.disk.allowed) return false;', replace: '' },
    ],
    foundBy: 'packages/data-engine/src/disk/write-back-budget.test.ts',
  },
  {
    name: 'failed-sync-counts-as-durable',
    breaks: 'a sync that failed makes nothing durable',
    file: 'packages/data-engine/src/disk/write-back-budget.ts',
    changes: [{ find: 'if (!isDone || cost <= 0) return;', replace: 'if (cost <= 0) return;' }],
    foundBy: 'packages/data-engine/src/disk/write-back-budget.test.ts',
  },
  {
    name: 'newest-side-is-the-older',
    breaks: 'of two whole sides the newer version counts',
    file: 'packages/data-engine/src/disk/block/sealed-pair.ts',
    changes: [{ find: 'other === next(one)) ? 1 : 0', replace: 'other === next(one)) ? 0 : 1' }],
    foundBy: 'packages/data-engine/src/disk/block/block-store.test.ts',
  },
  {
    name: 'unused-clusters-are-kept',
    breaks: 'a copy that is closed gives back the clusters that it did not use',
    file: 'packages/data-engine/src/disk/block/copy-space.ts',
    changes: [{ find: 'await this.owners.give(this.ready.splice(0));', replace: 'this.ready.splice(0);' }],
    foundBy: 'packages/data-engine/src/disk/block/copy-space.test.ts',
  },
  {
    name: 'half-made-copy-is-listed',
    breaks: 'a directory that is being filled is no copy',
    file: 'packages/data-engine/src/disk/folder/replica-files.ts',
    changes: [
      {
        find: 'return names.filter(isId).sort();',
        replace: "return names.map((name) => name.replace(NEW_PREFIX, '')).filter(isId).sort();",
      },
    ],
    foundBy: 'packages/data-engine/src/disk/folder/replica-files.test.ts',
  },
  {
    name: 'removes-what-is-being-made',
    breaks: 'a copy that is being made is no leftover',
    file: 'packages/data-engine/src/disk/folder/replica-files.ts',
    changes: [{ find: 'if (isLeftover && !making.has(file))', replace: 'if (isLeftover)' }],
    foundBy: 'packages/data-engine/src/disk/folder/replica-files.test.ts',
  },
  {
    name: 'slow-disk-holds-up-the-loop',
    breaks: 'the event loop waits for no disk that was slow a moment ago',
    file: 'packages/data-engine/src/disk/disk-pace.ts',
    changes: [
      {
        find: 'lengthBytes <= COPY_BYTES_MAX && this.time.nowMs() >= this.pausedUntilMs',
        replace: 'lengthBytes <= COPY_BYTES_MAX',
      },
    ],
    foundBy: 'packages/data-engine/src/disk/disk-pace.test.ts',
  },
  {
    name: 'run-of-blocks-ends-too-early',
    breaks: 'a run of held blocks is told to its end',
    file: 'packages/data-engine/src/layers/block-map.ts',
    changes: [
      {
        find: 'if ((bit & 7) === 0 && page[bit >>> 3] === (held ? 0xff : 0)) {',
        replace: 'if ((bit & 7) === 0 && page[bit >>> 3] === (held ? 0 : 0xff)) {',
      },
    ],
    foundBy: 'packages/data-engine/src/layers/block-map.test.ts',
  },
  {
    name: 'revert-to-a-deleted-snapshot',
    breaks: 'a volume is not reverted to a snapshot that was deleted',
    file: 'packages/data-engine/src/layers/layer-tree.ts',
    changes: [
      {
        find: 'if (target === undefined || target.removed) throw snapshotNotFound();',
        replace: 'if (target === undefined) throw snapshotNotFound();',
      },
    ],
    foundBy: 'packages/data-engine/src/layers/layer-tree.test.ts',
  },
  {
    name: 'thaws-a-layer-that-others-need',
    breaks: 'a layer that another branch stands on is not thawed',
    file: 'packages/data-engine/src/layers/layer-tree.ts',
    changes: [{ find: 'if (childrenOf(layers, layerId).length > 1) throw snapshotInUse();', replace: '' }],
    foundBy: 'packages/data-engine/src/layers/layer-tree.test.ts',
  },
  {
    name: 'older-lease-still-writes',
    breaks: 'a connection of an earlier opening changes nothing',
    file: 'packages/data-engine/src/replica/copy-fence.ts',
    changes: [
      {
        find: 'if (term.epoch !== epoch || !this.isLease(term)) throw',
        replace: 'if (term.epoch !== epoch) throw',
      },
    ],
    foundBy: 'packages/data-engine/src/replica/replica.test.ts',
  },
  {
    name: 'late-opening-ends-its-successor',
    breaks: 'an opening that comes late does not end the later one',
    file: 'packages/data-engine/src/replica/copy-fence.ts',
    changes: [
      { find: 'if (count < last) throw stateChanged();', replace: 'if (count < last) return false;' },
    ],
    foundBy: 'packages/data-engine/src/replica-server/late-commands.test.ts',
  },
  {
    name: 'change-of-another-head',
    breaks: 'a command about another head is refused',
    file: 'packages/data-engine/src/replica/copy-fence.ts',
    changes: [
      {
        find: 'if (expectedHeadId !== undefined && expectedHeadId !== now) throw stateChanged();',
        replace: '',
      },
    ],
    foundBy: 'packages/data-engine/src/replica-server/late-commands.test.ts',
  },
  {
    name: 'write-passes-an-exclusive-one',
    breaks: 'no write begins while a change has the copy to itself',
    file: 'packages/data-engine/src/replica/write-gate.ts',
    changes: [{ find: 'if (this.exclusive !== undefined) return this.enterLater();', replace: '' }],
    foundBy: 'packages/data-engine/src/replica/write-gate.test.ts',
  },
  {
    name: 'damaged-marks-are-believed',
    breaks: 'a damaged map of marks is told, not believed',
    file: 'packages/data-engine/src/replica/intent-map.ts',
    changes: [
      {
        find: "if (SEALS.statesOf(stored, 0).some((state) => typeof state !== 'number'))",
        replace: "if (SEALS.statesOf(stored, 0).every((state) => typeof state !== 'number'))",
      },
    ],
    foundBy: 'packages/data-engine/src/replica/intent-map.test.ts',
  },
  {
    name: 'revert-trusts-changed-layers',
    breaks: 'a revert has copies prove layers whose files have changed since they were hashed',
    file: 'packages/data-engine/src/engine/hash-snapshot.ts',
    changes: [{ find: 'one?.isChanged === true', replace: 'one === null' }],
    foundBy: 'packages/data-engine/src/engine/volume-snapshots.test.ts',
  },
  {
    name: 'an-unproven-copy-counts-as-proof',
    breaks: 'a copy proves a layer by what it had recorded itself',
    file: 'packages/core/src/model/decide-corrupted.ts',
    changes: [
      { find: 'return checksum === recorded;', replace: "return checksum === recorded || recorded !== '';" },
    ],
    foundBy: 'packages/core/src/model/decide-corrupted.test.ts',
  },
];
