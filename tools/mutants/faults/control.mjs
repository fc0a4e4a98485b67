// Faults of the reconcilers and use cases.
export const CONTROL_FAULTS = [
  {
    name: 'lost-race-is-an-error',
    breaks: 'a use case that lost a race reads again and decides anew',
    file: 'packages/control/src/use-cases/use-case.ts',
    changes: [
      {
        find: "if (!isFault(error, 'store.conflict') || count >= ATTEMPTS_MAX) throw error;",
        replace: "if (!isFault(error, 'store.conflict') || count >= 1) throw error;",
      },
    ],
    foundBy: 'packages/control/test/create-race.test.ts',
  },
  {
    name: 'attach-with-a-stale-version',
    breaks: 'a request that names an older version is refused',
    file: 'packages/control/src/use-cases/use-case.ts',
    changes: [
      {
        find: 'if (ifVersion === undefined || ifVersion === version) return;',
        replace: 'if (ifVersion === undefined || ifVersion <= version) return;',
      },
    ],
    foundBy: 'packages/control/test/attachment-fences.test.ts',
  },
  {
    name: 'force-is-not-recorded',
    breaks: 'a forced detach does not wait for the stop of its engine',
    file: 'packages/control/src/use-cases/request-detach.ts',
    changes: [
      {
        find: 'lifecycle: afterRelease(volume.lifecycle, force)',
        replace: 'lifecycle: afterRelease(volume.lifecycle, false)',
      },
    ],
    foundBy: 'packages/control/test/forced-detach.test.ts',
  },
  {
    name: 'cancelled-rebuild-leaves-no-event',
    breaks: 'a rebuild that is cancelled leaves an event',
    file: 'packages/control/src/use-cases/cancel-rebuild.ts',
    changes: [
      {
        find: `      { kind: 'event', event: rebuildEvent(rebuild, { type: 'RebuildCancelled', message }, now) },
`,
        replace: '',
      },
    ],
    foundBy: 'packages/control/test/events.test.ts',
  },
  {
    name: 'removal-without-the-version',
    breaks: 'of two removals at once one is decided again',
    file: 'packages/control/src/use-cases/request-replica-removal.ts',
    changes: [
      {
        find: "{ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }",
        replace: "{ kind: 'new' }",
      },
    ],
    foundBy: 'packages/control/test/attachment-fences.test.ts',
  },
  {
    name: 'snapshots-without-a-limit',
    breaks: 'a volume has no more snapshots than its limit',
    file: 'packages/control/src/use-cases/snapshots.ts',
    changes: [{ find: 'max: snapshotsMax(view)', replace: 'max: 2 * snapshotsMax(view)' }],
    foundBy: 'packages/control/test/snapshots.test.ts',
  },
  {
    name: 'drain-counts-on-no-node',
    breaks: 'a drain holds the node that it counts on until the commit',
    file: 'packages/control/src/use-cases/change-node.ts',
    changes: [{ find: 'ifVersion: node.version, countsOn }', replace: 'ifVersion: node.version }' }],
    foundBy: 'packages/control/test/drain.test.ts',
  },
  {
    name: 'due-mark-overwritten',
    breaks: 'a mark that was set since the view was loaded stays',
    file: 'packages/control/src/reconcilers/reconcile-volume.ts',
    changes: [
      {
        find: 'await store.recordDue(volume.id, { at, ifMarks: due.marks });',
        replace: 'await store.recordDue(volume.id, { at, ifMarks: due.marks + 1 });',
      },
    ],
    foundBy: 'packages/control/test/due.test.ts',
  },
  {
    name: 'waiting-volume-is-not-due',
    breaks: 'a volume that waits for an agent stays due',
    file: 'packages/control/src/reconcilers/reconcile-volume.ts',
    changes: [
      {
        find: 'if (view.due.at === undefined || view.due.at > now) await moveDue(ports, view, now);',
        replace: '',
      },
    ],
    foundBy: 'packages/control/test/due.test.ts',
  },
  {
    name: 'failed-copies-are-not-fenced',
    breaks: 'a start fences every copy that it can reach, failed ones too',
    file: 'packages/control/src/reconcilers/survey-copies.ts',
    changes: [
      {
        find: '(replica) => replica.provisioned && isOnReadyNode(replica, view.fleet)',
        replace:
          '(replica) => replica.provisioned && replica.failedAt === undefined && isOnReadyNode(replica, view.fleet)',
      },
    ],
    foundBy: 'packages/control/test/attachment-fences.test.ts',
  },
  {
    name: 'engine-of-the-old-grant',
    breaks: 'an engine is started under the grant that was committed',
    file: 'packages/control/src/reconcilers/attachment-steps.ts',
    changes: [
      {
        find: `    grantId: volume.grantId,
    sizeBytes`,
        replace: `    grantId: newIdentity(ports).grantId,
    sizeBytes`,
      },
    ],
    foundBy: 'packages/control/test/crash.test.ts',
  },
  {
    name: 'removal-of-a-newer-copy',
    breaks: 'a copy is deleted only while the volume is as it was planned from',
    file: 'packages/control/src/reconcilers/replica-steps.ts',
    changes: [{ find: 'if (now?.volume.version !== volume.version)', replace: 'if (now === undefined)' }],
    foundBy: 'packages/control/test/delete-race.test.ts',
  },
  {
    name: 'dead-agents-stay-ready',
    breaks: 'a node at whose address nothing listens is not ready',
    file: 'packages/control/src/reconcilers/find-lost-agents.ts',
    changes: [{ find: "if (answer === 'gone') await takeForGone(store, one);", replace: '' }],
    foundBy: 'packages/control/test/lost-agents.test.ts',
  },
  {
    name: 'silent-agents-taken-for-gone',
    breaks: 'an agent that only does not answer is not taken for gone',
    file: 'packages/control/src/reconcilers/find-lost-agents.ts',
    changes: [{ find: "if (answer === 'gone') await", replace: "if (answer !== 'answers') await" }],
    foundBy: 'packages/control/test/lost-agents.test.ts',
  },
  {
    name: 'sweep-forgets-volumes',
    breaks: 'the sweep wakes volumes that are due',
    file: 'packages/control/src/reconcilers/sweep.ts',
    changes: [{ find: 'volumes += await wakeDueVolumes(ports, lane);', replace: 'volumes += 0;' }],
    foundBy: 'packages/control/test/due.test.ts',
  },
  {
    name: 'the-last-owner-counts-itself',
    breaks: 'the last owner of an organization stays one',
    file: 'packages/control/src/use-cases/change-member.ts',
    changes: [{ find: 'owners.filter((owner) => owner !== userId).length', replace: 'owners.length' }],
    foundBy: 'packages/simulator/src/store/memory-access.test.ts',
  },
  {
    name: 'invitation-without-a-right',
    breaks: 'a member who may not invite any more invites no other one',
    file: 'packages/control/src/use-cases/invite-member.ts',
    changes: [{ find: 'await requireStill(transaction, kind, by.userId);', replace: '' }],
    foundBy: 'packages/simulator/src/store/memory-access.test.ts',
  },
  {
    name: 'setting-changed-under-any-version',
    breaks: 'a setting is changed under the version that was read',
    file: 'packages/control/src/use-cases/change-setting.ts',
    changes: [{ find: 'assertVersion(stored.version, ifVersion);', replace: '' }],
    foundBy: 'packages/simulator/src/store/memory-access.test.ts',
  },
];
