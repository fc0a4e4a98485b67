// Faults of the data engine: NBD, engines and rebuilds. Those that only a simulation finds are planted by its own suite.
export const DATA_ENGINE_FAULTS = [
  {
    name: 'full-disk-loses-its-code',
    breaks: 'a copy says that its own disk is full, whatever process asks',
    file: 'packages/data-engine/src/replica-server/disk-refusals.ts',
    changes: [{ find: 'if (isOutOfSpace(error)) return', replace: 'if (code === undefined) return' }],
    foundBy: 'packages/data-engine/src/engine/refused-effects.test.ts',
  },
  {
    name: 'refusal-of-all-copies-drops-them',
    breaks: 'a command that all copies have failed costs none',
    file: 'packages/data-engine/src/engine/judge-command.ts',
    changes: [{ find: 'isOfAll || (canUndo && full.length > 0)', replace: 'canUndo && full.length > 0' }],
    foundBy: 'packages/data-engine/src/engine/refused-effects.test.ts',
  },
  {
    name: 'stretch-loses-its-last-block',
    breaks: 'the range of a stretch reaches to the end of its last changed block',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'end: start + (last + 1) * BLOCK_BYTES', replace: 'end: start + last * BLOCK_BYTES' }],
    foundBy: 'packages/data-engine/src/protocol/stretches.test.ts',
  },
  {
    name: 'stretches-end-after-one-answer',
    breaks: 'a long list of changes is answered in pages',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'next: end < list.length ? end : null', replace: 'next: null' }],
    foundBy: 'packages/data-engine/src/protocol/stretches.test.ts',
  },
  {
    name: 'last-stretch-of-a-page-is-lost',
    breaks: 'a list of changes is read to its last entry',
    file: 'packages/data-engine/src/protocol/stretches.ts',
    changes: [{ find: 'at + ENTRY_BYTES <= bytes.length', replace: 'at + ENTRY_BYTES < bytes.length' }],
    foundBy: 'packages/data-engine/src/protocol/stretches.test.ts',
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
    foundBy: 'packages/data-engine/src/nbd/requests.test.ts',
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
    foundBy: 'packages/data-engine/src/replica-server/late-commands.test.ts',
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
    foundBy: 'packages/data-engine/src/engine/range-locks.test.ts',
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
    foundBy: 'packages/data-engine/src/engine/grants.test.ts',
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
