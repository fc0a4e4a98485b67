// Mutants of the fault search: rules of core and control, each broken as it could be. Each `find` text must stand exactly
// once in its file, or the test that uses it fails: a mutant can't go stale unnoticed. `seed` is the first one that finds it.

/** Mutants that the search finds by this seed are tried in each quick test run. */
export const QUICK_SEED_MAX = 1;

/** `{ name, seed, hole, changes }`: `hole` says in one sentence what is wrong then. */
export const MUTANTS = [
  {
    name: 'limit-off-by-one',
    seed: 9,
    hole: 'one rebuild more than its limit is admitted',
    changes: [
      {
        file: 'core/src/admission/admission-queue.ts',
        find: '(this.count(demand) < most && ',
        replace: '(this.count(demand) <= most && ',
      },
    ],
  },
  {
    name: 'no-time-for-stale-replicas',
    seed: 5,
    hole: 'a failed replica that waits for its age says no time, so that no sweep removes it',
    changes: [
      {
        file: 'core/src/lifecycle/plan-removal.ts',
        find: '  if (staleMinutes === 0) return [];\n',
        replace: '  if (staleMinutes >= 0) return [];\n',
      },
    ],
  },
  {
    name: 'stale-copies-believed',
    seed: 25,
    hole: 'an engine starts on every copy that answers, those that missed writes too',
    changes: [
      {
        file: 'core/src/lifecycle/decide-start.ts',
        find: "  return { kind: 'go', record: decision.record, current: decision.current };",
        replace: "  return { kind: 'go', record: decision.record, current: [...found.keys()] };",
      },
    ],
  },
  {
    name: 'booked-past-the-limit',
    seed: 1,
    hole: 'a replica is booked against ten times the limit of its disk',
    changes: [
      {
        file: 'core/src/policy/space-booking.ts',
        find: 'const limitBytes = provisionableBytes(disk, settings);',
        replace: 'const limitBytes = 10 * provisionableBytes(disk, settings);',
      },
    ],
  },
  {
    name: 'nodes-not-emptied',
    seed: 33,
    hole: 'copies on a node that is to be emptied count as lasting',
    changes: [
      {
        file: 'core/src/model/volume-facts.ts',
        find: "return replica.intent === 'evict' || isNodeEvicting || isDiskEvicting;",
        replace: "return replica.intent === 'evict' || (isNodeEvicting && isDiskEvicting);",
      },
    ],
  },
  {
    name: 'cordon-ignored',
    seed: 2,
    hole: 'new replicas are placed on cordoned nodes',
    changes: [
      {
        file: 'core/src/scheduling/filters/node-schedulable.filter.ts',
        find: 'if (node.cordoned && mindsCordon) return cordoned(node.name);',
        replace: 'if (node.cordoned && mindsCordon && node.evictionRequested) return cordoned(node.name);',
      },
    ],
  },
  {
    name: 'modes-left-behind',
    seed: 2,
    hole: 'replicas of a detached volume keep the modes that their engine gave them',
    changes: [
      {
        file: 'core/src/lifecycle/conclude-attachment.ts',
        find: '.filter(({ mode, failedAt }) => mode !== undefined && failedAt === undefined)',
        replace: ".filter(({ mode, failedAt }) => mode === 'ERR' && failedAt === undefined)",
      },
    ],
  },
  {
    name: 'last-copy-removed',
    seed: 492,
    hole: 'the last full copy of a volume may be deleted, also while it is detached',
    changes: [
      {
        file: 'core/src/policy/decide-removal.ts',
        find: 'if (survivors.length > 0) return ALLOWED;',
        replace: 'if (survivors.length >= 0) return ALLOWED;',
      },
      {
        file: 'core/src/lifecycle/plan-removal.ts',
        find: 'if (!isHealthy(replica)) return true;',
        replace: "if (!isHealthy(replica) || view.volume.lifecycle.state === 'detached') return true;",
      },
    ],
  },
  {
    name: 'due-times-lost',
    seed: 5,
    hole: 'a volume whose planner names a time is not woken at it',
    changes: [
      {
        file: 'control/src/reconcilers/reconcile-volume.ts',
        find: 'await store.recordDue(volume.id, { at, ifMarks: due.marks });',
        replace: 'await store.recordDue(volume.id, { at: undefined, ifMarks: due.marks });',
      },
    ],
  },
  {
    name: 'never-satisfied',
    seed: 1,
    hole: "the cluster's reconciler writes a disk's condition anew although it has not changed",
    changes: [
      {
        file: 'control/src/reconcilers/reconcile-cluster.ts',
        find: 'const isShown = before?.status === next.status && before.reason === next.reason;',
        replace: 'const isShown = before?.status === next.status && before.reason !== next.reason;',
      },
    ],
  },
  {
    name: 'clone-ends-unfilled',
    seed: 3,
    hole: 'a clone counts as filled as soon as its filling has begun',
    changes: [
      {
        file: 'core/src/lifecycle/plan-fill.ts',
        find: "if (reported?.fillId !== volume.id || reported.state === 'running') return undefined;",
        replace: 'if (reported?.fillId !== volume.id) return undefined;',
      },
      {
        file: 'core/src/lifecycle/plan-fill.ts',
        find: "if (reported.state === 'succeeded') return planEnd(view, now);",
        replace: "if (reported.state !== 'failed') return planEnd(view, now);",
      },
    ],
  },
  {
    name: 'offline-rebuild-unwanted',
    seed: 70,
    hole: 'a detached volume is attached for a rebuild that neither it nor the cluster wants',
    changes: [
      {
        file: 'core/src/lifecycle/plan-offline-rebuild.ts',
        find: "if (!isRebuiltOffline(view) || robustnessOf(view) !== 'degraded' || !mayBegin(view, now)) return undefined;",
        replace: "if (robustnessOf(view) !== 'degraded' || !mayBegin(view, now)) return undefined;",
      },
    ],
  },
  {
    name: 'tasks-over-their-limit',
    seed: 9,
    hole: 'background tasks begin whatever their limit on a node says',
    changes: [
      {
        file: 'core/src/admission/admission-queue.ts',
        find: 'return most === 0 && limit.zeroIsUnlimited ? undefined : most;',
        replace: 'return limit.zeroIsUnlimited ? undefined : most;',
      },
    ],
  },
  {
    name: 'no-look-for-missing-copies',
    seed: 20,
    hole: 'a volume that lacks a copy says no time at which it looks for a place again',
    changes: [
      {
        file: 'core/src/lifecycle/plan-volume-step.ts',
        find: 'const lookMs = lacksCopies(view) ? FLEET_LOOK_MS',
        replace: 'const lookMs = lacksCopies(view) ? undefined',
      },
    ],
  },
  {
    name: 'waits-without-a-cause',
    seed: 163,
    hole: 'a queued rebuild is not told what it waits for',
    changes: [
      {
        file: 'control/src/reconcilers/admit-work.ts',
        find: 'if (known === undefined || (waitingFor === known.waitingFor',
        replace: "if (known?.state !== 'running' || (waitingFor === known.waitingFor",
      },
    ],
  },
  {
    name: 'balance-though-off',
    seed: 8,
    hole: 'volumes are balanced although neither they nor their cluster want it',
    changes: [
      {
        file: 'core/src/balance/choose-move.ts',
        find: "if (effort === 'disabled' || volume.balance?.stoppedAt !== undefined) return undefined;",
        replace: 'if (volume.balance?.stoppedAt !== undefined) return undefined;',
      },
    ],
  },
  {
    name: 'purges-first-though-off',
    seed: 12,
    hole: 'rebuilds purge first although the clean-up is switched off',
    changes: [
      {
        file: 'core/src/admission/plan-admissions.ts',
        find: "const isWanted = settings['auto-cleanup-system-generated-snapshot'] && !settings['disable-snapshot-purge'];",
        replace: 'const isWanted = settings !== undefined;',
      },
    ],
  },
  {
    name: 'hashed-though-off',
    seed: 12,
    hole: 'snapshots are hashed although the integrity of their volume is disabled',
    changes: [
      {
        file: 'core/src/policy/volume-settings.ts',
        find: '  return own === undefined\n    ?',
        replace: "  return own === undefined || field === 'snapshotDataIntegrity'\n    ?",
      },
      {
        file: 'simulator/src/store/admission-tasks.ts',
        find: "integrity === 'disabled')",
        replace: "integrity === 'none')",
      },
    ],
  },
  {
    name: 'failover-though-off',
    seed: 2,
    hole: 'a volume fails over although its policy leaves that to its users',
    changes: [
      {
        file: 'core/src/lifecycle/plan-failover.ts',
        find: "if (delay <= 0 || (state !== 'attached'",
        replace: "if ((state !== 'attached'",
      },
    ],
  },
  {
    name: 'detached-though-off',
    seed: 7,
    hole: 'volumes are detached from cordoned nodes although the setting is off',
    changes: [
      {
        file: 'core/src/lifecycle/plan-cordon-detachment.ts',
        find: "if (!fleet.settings['detach-manually-attached-volumes-when-cordoned']) return undefined;",
        replace: '',
      },
    ],
  },
  {
    name: 'grown-past-the-limit',
    seed: 7,
    hole: 'an expansion is booked against no limit of its disks',
    changes: [
      {
        file: 'core/src/policy/decide-expansion.ts',
        find: 'undefined : bookingOn(disk, growthBytes, fleet);',
        replace:
          'undefined : { ...bookingOn(disk, growthBytes, fleet), limitBytes: Number.MAX_SAFE_INTEGER };',
      },
    ],
  },
  {
    name: 'quota-forgotten-in-admission',
    seed: 824,
    hole: 'admission gives out places that a quota of running rebuilds does not have, and no commit of it is taken any more',
    changes: [
      {
        file: 'core/src/admission/plan-admissions.ts',
        find: '.filter(({ volumeIds }) => volumeIds.includes(volumeId))',
        replace: '.filter(({ volumeIds }) => volumeIds.length === 0)',
      },
    ],
  },
  {
    name: 'leaving-zones-taken',
    seed: 144,
    hole: 'with hard zones, the zone of a copy that is to leave counts as taken, so that no node is drained',
    changes: [
      {
        file: 'core/src/scheduling/occupancy.ts',
        find: 'leavingZones: new Set([...zones.keys()].filter((zone) => !stayingZones.has(zone))),',
        replace: 'leavingZones: new Set(),',
      },
    ],
  },
  {
    name: 'leaving-copies-wait-for-each-other',
    seed: 24,
    hole: 'a copy that is to leave waits until all others are replaced too, so that two drains hold each other up',
    changes: [
      {
        file: 'core/src/policy/decide-surplus.ts',
        find: 'const isShort = staying.length < wanted;',
        replace: 'if (staying.length < wanted) return undefined;\n  const isShort = false;',
      },
    ],
  },
  {
    name: 'dead-node-keeps-detached-copies',
    seed: 143,
    hole: 'a detached volume is not attached to be moved off a dead node as long as that is dead',
    changes: [
      {
        file: 'core/src/lifecycle/plan-offline-rebuild.ts',
        find: 'return !view.replicas.some((replica) => awayUntil(replica, view) > now);',
        replace: 'return !view.replicas.some((replica) => !isReachable(replica, view.fleet));',
      },
    ],
  },
  {
    name: 'nothing-follows-from-damage',
    seed: 2,
    hole: 'a copy that a comparison has found to be damaged is read from',
    changes: [
      {
        file: 'core/src/lifecycle/follow-verification.ts',
        find: "if (verdict.kind !== 'damaged' || believed === undefined) return [noted];",
        replace: "if (verdict.kind !== 'none') return [noted];",
      },
    ],
  },
  {
    name: 'detached-health-by-rows',
    seed: 2,
    hole: 'a detached volume counts copies on dead nodes and missing disks as well',
    changes: [
      {
        file: 'core/src/lifecycle/plan-status.ts',
        find: 'const reachable = healthy.filter((replica) => isReachable(replica, fleet)).length;',
        replace: 'const reachable = healthy.length;',
      },
    ],
  },
  {
    name: 'copies-of-disks-believed',
    seed: 19,
    hole: 'a copy of the files of a disk in use is taken for that disk once its node is away',
    changes: [
      {
        file: 'core/src/policy/disk-identity.ts',
        find: '  const rival = rivals?.[nodeId];',
        replace: '  if (nodeId !== undefined) return undefined;\n  const rival = rivals?.[nodeId];',
      },
    ],
  },
];
