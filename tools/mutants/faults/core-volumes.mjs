// Faults of core: the life of volumes and copies, and what records and facts say of them.
export const CORE_VOLUME_FAULTS = [
  {
    name: 'failover-while-the-node-lives',
    breaks: 'a volume fails over only from a node that is not ready',
    file: 'packages/core/src/lifecycle/plan-failover.ts',
    changes: [
      {
        find: 'if (node === undefined || isNodeReady(node)) return undefined;',
        replace: 'if (node === undefined) return undefined;',
      },
    ],
    foundBy: 'packages/control/test/failover.test.ts',
  },
  {
    name: 'last-full-copy-goes',
    breaks: 'a full copy goes only when another full copy stays',
    file: 'packages/core/src/lifecycle/plan-removal.ts',
    changes: [
      {
        find: "view.volume.lifecycle.state === 'attached' && decideRemoval(view.replicas, replica.id).kind === 'allow'",
        replace: "view.volume.lifecycle.state === 'attached'",
      },
    ],
    foundBy: 'packages/core/src/lifecycle/plan-removal.test.ts',
  },
  {
    name: 'failed-copies-removed-without-a-full-one',
    breaks: 'while no copy is full a failed one is kept',
    file: 'packages/core/src/lifecycle/plan-removal.ts',
    changes: [
      {
        find: `  if (copies === 0) return undefined;
`,
        replace: '',
      },
    ],
    foundBy: 'packages/core/src/lifecycle/plan-removal.test.ts',
  },
  {
    name: 'healthy-behind-a-silent-node',
    breaks: 'a volume whose engine is on a node that is not heard is shown as unknown',
    file: 'packages/core/src/lifecycle/plan-status.ts',
    changes: [
      {
        find: "if (holder === undefined || !isNodeReady(holder)) return 'unknown';",
        replace: "if (holder === undefined) return 'unknown';",
      },
    ],
    foundBy: 'packages/control/test/lost-agents.test.ts',
  },
  {
    name: 'healthy-by-copies-that-are-written-only',
    breaks: 'a copy that is being rebuilt does not count as a full one',
    file: 'packages/core/src/lifecycle/plan-status.ts',
    changes: [
      {
        find: "return robustnessInUse(replicas.filter(({ mode }) => mode === 'RW').length, wanted);",
        replace:
          "return robustnessInUse(replicas.filter(({ mode }) => mode === 'RW' || mode === 'WO').length, wanted);",
      },
    ],
    foundBy: 'packages/control/test/story.test.ts',
  },
  {
    name: 'epoch-raised-by-one-too-few',
    breaks: 'after a restored database the next epoch is above all that the copies know',
    file: 'packages/core/src/lifecycle/conclude-attachment.ts',
    changes: [{ find: 'const epoch = newest + 1;', replace: 'const epoch = newest;' }],
    foundBy: 'packages/core/src/lifecycle/conclude-attachment.test.ts',
  },
  {
    name: 'detach-leaves-no-event',
    breaks: 'a detached volume leaves an event',
    file: 'packages/core/src/lifecycle/conclude-attachment.ts',
    changes: [
      {
        find: `    ...endedRebuild(view, now),
    { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeDetached', message }) },`,
        replace: '    ...endedRebuild(view, now),',
      },
    ],
    foundBy: 'packages/core/src/lifecycle/conclude-attachment.test.ts',
  },
  {
    name: 'start-without-patience',
    breaks: 'a start waits a moment for a member that may be about to answer',
    file: 'packages/core/src/lifecycle/decide-start.ts',
    changes: [
      {
        find: 'if (now.getTime() - since.getTime() < patienceMs)',
        replace: 'if (now.getTime() - since.getTime() < 0 * patienceMs)',
      },
    ],
    foundBy: 'packages/core/src/lifecycle/decide-start.test.ts',
  },
  {
    name: 'half-is-enough-to-shrink',
    breaks: 'an engine goes on alone only with more than half of the last members',
    file: 'packages/core/src/model/copy-record.ts',
    changes: [{ find: 'staying.length * 2 > last.length', replace: 'staying.length * 2 >= last.length' }],
    foundBy: 'packages/core/src/model/copy-record.test.ts',
  },
  {
    name: 'joining-copy-is-a-witness',
    breaks: 'a copy that joins is no witness of the last record',
    file: 'packages/core/src/model/copy-record.ts',
    changes: [{ find: 'next.filter((member) => last.includes(member))', replace: 'next' }],
    foundBy: 'packages/core/src/model/copy-record.test.ts',
  },
  {
    name: 'restored-database-trusts-the-present',
    breaks: 'after a restore of the database all members have to answer',
    file: 'packages/core/src/model/copy-record.ts',
    changes: [{ find: '|| isAnyAwaited', replace: '' }],
    foundBy: 'packages/core/src/model/copy-record.test.ts',
  },
  {
    name: 'engine-of-another-epoch-serves',
    breaks: 'an engine counts as serving only under the epoch of its volume',
    file: 'packages/core/src/model/volume-facts.ts',
    changes: [
      {
        find: `    engine.report.epoch === volume.epoch &&
`,
        replace: '',
      },
    ],
    foundBy: 'packages/core/src/lifecycle/plan-layer-work.test.ts',
  },
  {
    name: 'emptied-copies-last',
    breaks: 'a copy on a node that is being emptied does not count towards the wanted ones',
    file: 'packages/core/src/model/volume-facts.ts',
    changes: [
      {
        find: "isHealthy(replica) && replica.intent !== 'remove' && !isEvicting(replica, fleet, replicas)",
        replace: "isHealthy(replica) && replica.intent !== 'remove'",
      },
    ],
    foundBy: 'packages/control/test/drain.test.ts',
  },
  {
    name: 'rebuild-percent-falls',
    breaks: 'the percent of a rebuild never falls',
    file: 'packages/core/src/model/rebuild.ts',
    changes: [
      { find: 'Math.max(previous, Math.floor(percent * 10) / 10)', replace: 'Math.floor(percent * 10) / 10' },
    ],
    foundBy: 'packages/core/src/lifecycle/conclude-heartbeat.test.ts',
  },
  {
    name: 'labels-without-a-bound',
    breaks: 'an object has at most 64 labels',
    file: 'packages/core/src/model/labels.ts',
    changes: [{ find: 'if (after.size > LABELS_MAX)', replace: 'if (after.size > 2 * LABELS_MAX)' }],
    foundBy: 'packages/core/src/model/labels.test.ts',
  },
  {
    name: 'a-few-copies-fail-the-others',
    breaks: 'more than half of all current copies fail the odd one',
    file: 'packages/core/src/lifecycle/judge-copies.ts',
    changes: [{ find: 'count * 2 > all', replace: 'count * 2 > copies.length' }],
    foundBy: 'packages/core/src/lifecycle/judge-copies.test.ts',
  },
  {
    name: 'copies-with-writes-in-flight-are-judged',
    breaks: 'copies that may differ lawfully are not judged',
    file: 'packages/core/src/lifecycle/judge-copies.ts',
    changes: [{ find: 'clean !== true', replace: 'clean === null' }],
    foundBy: 'packages/core/src/lifecycle/judge-copies.test.ts',
  },
  {
    name: 'failed-copies-stay-members',
    breaks: 'a copy that a verification fails is no member of the next record',
    file: 'packages/core/src/lifecycle/follow-verification.ts',
    changes: [{ find: '!failed.includes(id)', replace: 'failed.length > 0 || id !== undefined' }],
    foundBy: 'packages/control/test/damaged-copies.test.ts',
  },
  {
    name: 'sums-of-two-epochs-are-compared',
    breaks: 'a verification ends when the volume was attached meanwhile',
    file: 'packages/core/src/lifecycle/plan-verification.ts',
    changes: [
      { find: '(volume.verification.epoch ?? volume.epoch) === volume.epoch', replace: 'volume.epoch >= 0' },
    ],
    foundBy: 'packages/control/test/damaged-copies.test.ts',
  },
  {
    name: 'only-copy-given-up-unasked',
    breaks: 'a copy on a forgotten node whose loss is not accepted stays',
    file: 'packages/core/src/lifecycle/plan-forgotten-node.ts',
    changes: [{ find: 'if (isLoss && !isAccepted) return undefined;', replace: '' }],
    foundBy: 'packages/core/src/lifecycle/plan-forgotten-node.test.ts',
  },
  {
    name: 'cure-offered-with-too-few-copies',
    breaks: 'an attach elsewhere is offered only where half of the last copies answer',
    file: 'packages/core/src/lifecycle/plan-failover.ts',
    changes: [
      { find: 'return isEnough && reachable.length > 0 &&', replace: 'return reachable.length > 0 &&' },
    ],
    foundBy: 'packages/control/test/offered-cures.test.ts',
  },
  {
    name: 'degraded-volumes-are-compared',
    breaks: 'the schedule compares no copies while one is missing',
    file: 'packages/core/src/lifecycle/plan-scheduled-verification.ts',
    changes: [{ find: "volume.robustness !== 'healthy'", replace: "volume.robustness === 'faulted'" }],
    foundBy: 'packages/core/src/lifecycle/plan-scheduled-verification.test.ts',
  },
  {
    name: 'set-back-copies-believed',
    breaks: 'the copies on a disk that was set back are given up where another is full',
    file: 'packages/core/src/lifecycle/plan-set-back.ts',
    changes: [
      {
        find: 'return others.some((other) => isHealthy(other)',
        replace: 'return others.length > 64 && others.some((other) => isHealthy(other)',
      },
    ],
    foundBy: 'packages/core/src/lifecycle/plan-set-back.test.ts',
  },
  {
    name: 'attach-shows-stale-health',
    breaks: 'an attach that waits shows what has become of the copies',
    file: 'packages/core/src/lifecycle/plan-status.ts',
    changes: [{ find: "healthy: ['degraded', 'unknown', 'faulted'],", replace: 'healthy: [],' }],
    foundBy: 'packages/core/src/lifecycle/plan-status.test.ts',
  },
];
