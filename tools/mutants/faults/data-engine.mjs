// Faults of the data engine; those that only a simulation finds are planted by its own suite.
export const DATA_ENGINE_FAULTS = [
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
    name: 'stretch-loses-its-last-block',
    breaks: 'the range of a stretch reaches to the end of its last changed block',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'end: start + (last + 1) * BLOCK_BYTES', replace: 'end: start + last * BLOCK_BYTES' }],
    foundBy: 'packages/data-engine/src/layers/stretches.test.ts',
  },
  {
    name: 'stretches-end-after-one-answer',
    breaks: 'a long list of changes is answered in pages',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'next: end < list.length ? end : null', replace: 'next: null' }],
    foundBy: 'packages/data-engine/src/engine/rebuild-ranges.test.ts',
  },
  {
    name: 'last-stretch-of-a-page-is-lost',
    breaks: 'a list of changes is read to its last entry',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'at + ENTRY_BYTES <= bytes.length', replace: 'at + ENTRY_BYTES < bytes.length' }],
    foundBy: 'packages/data-engine/src/layers/stretches.test.ts',
  },
  {
    name: 'oversized-write-is-parsed',
    breaks: 'a write larger than the limit ends the connection',
    file: 'packages/data-engine/src/nbd/requests.ts',
    changes: [
      {
        find: 'type === Command.Write && lengthBytes > PAYLOAD_BYTES_MAX',
        replace: 'type === Command.Write && lengthBytes > 16 * PAYLOAD_BYTES_MAX',
      },
    ],
    foundBy: 'packages/data-engine/src/nbd/hostile-clients.test.ts',
  },
  {
    name: 'unread-replies-without-a-bound',
    breaks: 'a client that reads no replies is not read from',
    file: 'packages/data-engine/src/nbd/server-connection.ts',
    changes: [
      { find: 'const UNSENT_BYTES_MAX = 16 * MIB;', replace: 'const UNSENT_BYTES_MAX = 16_000 * MIB;' },
    ],
    foundBy: 'packages/data-engine/src/nbd/hostile-clients.test.ts',
  },
  {
    name: 'joined-writes-forget-their-flags',
    breaks: 'a write that asks for durability is not joined with others',
    file: 'packages/data-engine/src/nbd/adjacent-requests.ts',
    changes: [
      {
        find: '(type === Command.Read || type === Command.Write) && flags === 0 && lengthBytes > 0',
        replace: '(type === Command.Read || type === Command.Write) && lengthBytes > 0',
      },
    ],
    foundBy: 'packages/data-engine/src/nbd/adjacent-requests.test.ts',
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
    foundBy: 'packages/data-engine/src/engine/volume-snapshots.test.ts',
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
    foundBy: 'packages/data-engine/src/replica/replica.test.ts',
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
    foundBy: 'packages/data-engine/src/replica/rot.test.ts',
  },
  {
    name: 'pause-does-not-hold-a-rebuild',
    breaks: 'a rebuild that is paused sends nothing',
    file: 'packages/data-engine/src/pull/throttle.ts',
    changes: [
      {
        find: 'if (!paused && bandwidthBytesPerSecond === null) return;',
        replace: 'if (bandwidthBytesPerSecond === null) return;',
      },
    ],
    foundBy: 'packages/data-engine/src/pull/throttle.test.ts',
  },
  {
    name: 'one-lane-takes-all-parts',
    breaks: 'each part of a layer belongs to one source',
    file: 'packages/data-engine/src/pull/lanes.ts',
    changes: [
      {
        find: 'return Math.floor(window / PART_WINDOWS) % this.count === this.index;',
        replace: 'return this.index < this.count && window >= 0;',
      },
    ],
    foundBy: 'packages/data-engine/src/pull/lanes.test.ts',
  },
  {
    name: 'lane-ends-at-an-empty-part',
    breaks: 'parts that are empty at the source but held by the target are compared',
    file: 'packages/data-engine/src/pull/lanes.ts',
    changes: [{ find: 'const nexts = [reply.next, own]', replace: 'const nexts = [reply.next]' }],
    foundBy: 'packages/data-engine/src/pull/lanes.test.ts',
  },
  {
    name: 'hash-of-a-changed-window',
    breaks: 'the hash of a window that has changed since it was sent is not used',
    file: 'packages/data-engine/src/replica-server/sent-windows.ts',
    changes: [
      {
        find: 'found?.layer === layer && found.changes === layer.map.changes ? found',
        replace: 'found?.layer === layer ? found',
      },
    ],
    foundBy: 'packages/data-engine/src/replica-server/sent-windows.test.ts',
  },
  {
    name: 'sent-windows-without-a-bound',
    breaks: 'a bounded number of hashes of sent windows is kept',
    file: 'packages/data-engine/src/replica-server/sent-windows.ts',
    changes: [
      {
        find: 'if (this.windows.size >= WINDOWS_MAX && oldest !== undefined) this.windows.delete(oldest);',
        replace: '',
      },
    ],
    foundBy: 'packages/data-engine/src/replica-server/sent-windows.test.ts',
  },
  {
    name: 'export-serves-an-older-epoch',
    breaks: 'a connection of an older epoch reads nothing',
    file: 'packages/data-engine/src/replica-server/replica-exports.ts',
    changes: [
      {
        find: 'if (epoch !== this.epoch) throw staleEpoch(this.epoch, epoch);',
        replace: 'if (epoch < this.epoch) throw staleEpoch(this.epoch, epoch);',
      },
    ],
    foundBy: 'packages/data-engine/src/engine/fencing.test.ts',
  },
  {
    name: 'cancel-ends-a-later-pull',
    breaks: 'a late cancel does not end the pull after it',
    file: 'packages/data-engine/src/replica-server/replica-commands.ts',
    changes: [
      {
        find: 'pull?.rebuildId === rebuildId && !pull.isLaterThan(attempt)',
        replace: 'pull?.rebuildId === rebuildId',
      },
    ],
    foundBy: 'packages/data-engine/src/replica-server/late-commands.test.ts',
  },
  {
    name: 'overlapping-writes-at-once',
    breaks: 'of two writes to one range the later waits',
    file: 'packages/data-engine/src/engine/range-locks.ts',
    changes: [
      {
        find: `      if (earlier.start >= end || start >= earlier.end) continue;
      block(earlier, entry);`,
        replace: `      if (earlier.start >= end || start >= earlier.start) continue;
      block(earlier, entry);`,
      },
    ],
    foundBy: 'packages/data-engine/src/engine/random-operations.test.ts',
  },
  {
    name: 'half-of-the-members-goes-on-alone',
    breaks: 'an engine that starts with half of the last members asks the control plane first',
    file: 'packages/data-engine/src/engine/membership.ts',
    changes: [
      {
        find: 'if (!mayShrinkAlone(found, record.members) && !(await this.confirm(record))) return;',
        replace: '',
      },
    ],
    foundBy: 'packages/data-engine/src/engine/takeover.test.ts',
  },
  {
    name: 'lease-survives-a-lost-member',
    breaks: 'reads check the lease again when the members have changed',
    file: 'packages/data-engine/src/engine/lease.ts',
    changes: [
      {
        find: `  changed(): void {
    this.untilMs = Number.NEGATIVE_INFINITY;`,
        replace: '  changed(): void {',
      },
    ],
    foundBy: 'packages/data-engine/src/engine/lease.test.ts',
  },
  {
    name: 'marks-cleared-before-the-flush',
    breaks: 'marks are cleared only when what they cover is durable',
    file: 'packages/data-engine/src/engine/clear-intent.ts',
    changes: [
      {
        find: `      await this.device.flush();
      const isTold`,
        replace: '      const isTold',
      },
    ],
    foundBy: 'packages/data-engine/src/engine/clear-intent.test.ts',
  },
];
