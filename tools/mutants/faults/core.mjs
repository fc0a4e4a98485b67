// Faults of core: admission, alerts, balance, checks, drains, forecasts, lists, rebuilds and settings.
export const CORE_FAULTS = [
  {
    name: 'admission-ignores-its-line',
    breaks: 'a background task that waits keeps its place before the tasks behind it',
    file: 'packages/core/src/admission/admission-queue.ts',
    changes: [{ find: 'if (keepsItsPlace) load.keep(demands);', replace: '' }],
    foundBy: 'packages/core/src/admission/task-queue.test.ts',
  },
  {
    name: 'least-urgent-rebuild-first',
    breaks: 'the rebuild of the volume with the fewest full copies is admitted first',
    file: 'packages/core/src/admission/plan-admissions.ts',
    changes: [
      { find: 'a.healthyCopies - b.healthyCopies ||', replace: 'b.healthyCopies - a.healthyCopies ||' },
    ],
    foundBy: 'packages/core/src/admission/plan-admissions.test.ts',
  },
  {
    name: 'preempts-what-is-nearly-done',
    breaks: 'a rebuild that is about to be promoted is never preempted',
    file: 'packages/core/src/admission/preemption.ts',
    changes: [{ find: "phase !== 'promoting' && ", replace: '' }],
    foundBy: 'packages/core/src/admission/preemption.test.ts',
  },
  {
    name: 'paused-rebuilds-share-bandwidth',
    breaks: 'a rebuild that stands still leaves its share of the bandwidth to the others',
    file: 'packages/core/src/admission/share-bandwidth.ts',
    changes: [{ find: 'if (standsStill(rebuild) || ', replace: 'if (' }],
    foundBy: 'packages/core/src/admission/share-bandwidth.test.ts',
  },
  {
    name: 'hashing-passes-a-purge',
    breaks: 'a check of snapshots waits longer than a purge that users wait for',
    file: 'packages/core/src/admission/task-queue.ts',
    changes: [
      { find: 'volume.askedAt.getTime() + FIRST_HASH_BEHIND_MS', replace: 'volume.askedAt.getTime()' },
    ],
    foundBy: 'packages/core/src/admission/task-queue.test.ts',
  },
  {
    name: 'alert-repeats-itself',
    breaks: 'an alert that was told is not told again',
    file: 'packages/core/src/alerts/decide-alerts.ts',
    changes: [
      {
        find: 'const tells = silenceId === undefined && !known.isTold;',
        replace: 'const tells = silenceId === undefined;',
      },
    ],
    foundBy: 'packages/core/src/alerts/alerts.test.ts',
  },
  {
    name: 'silence-outlives-its-end',
    breaks: 'a silence that has ended silences no alert',
    file: 'packages/core/src/alerts/decide-alerts.ts',
    changes: [{ find: 'startsAt <= now && now < endsAt', replace: 'startsAt <= now' }],
    foundBy: 'packages/core/src/alerts/alerts.test.ts',
  },
  {
    name: 'one-alert-for-each-disk-of-a-dead-node',
    breaks: 'the disks of a node that is not heard have no alerts of their own',
    file: 'packages/core/src/alerts/find-alerts.ts',
    changes: [{ find: '!isReady && !down.has(nodeId)', replace: '!isReady' }],
    foundBy: 'packages/core/src/alerts/alerts.test.ts',
  },
  {
    name: 'certificate-alert-too-late',
    breaks: 'the end of a certificate is told while there is time to renew it',
    file: 'packages/core/src/alerts/find-alerts.ts',
    changes: [
      {
        find: 'const CERTIFICATE_LEFT_MS = 120 * MINUTE_MS;',
        replace: 'const CERTIFICATE_LEFT_MS = 2 * MINUTE_MS;',
      },
    ],
    foundBy: 'packages/core/src/alerts/alerts.test.ts',
  },
  {
    name: 'balance-moves-to-returning-nodes',
    breaks: 'a node that came back a moment ago gets no copies by balance',
    file: 'packages/core/src/balance/balance-guards.ts',
    changes: [
      {
        find: 'isNodeReady(node) && nodeStableFrom(node, settings).getTime() <= now.getTime()',
        replace: 'isNodeReady(node)',
      },
    ],
    foundBy: 'packages/core/src/balance/choose-move.test.ts',
  },
  {
    name: 'balance-without-a-cool-down',
    breaks: 'a volume rests between two moves of balance',
    file: 'packages/core/src/balance/choose-move.ts',
    changes: [
      {
        find: 'restsUntil !== undefined && restsUntil.getTime() > now.getTime()',
        replace: 'restsUntil === undefined && now.getTime() < 0',
      },
    ],
    foundBy: 'packages/core/src/balance/choose-move.test.ts',
  },
  {
    name: 'balance-to-and-fro',
    breaks: 'balance stops where it would bring copies back to where it took them from',
    file: 'packages/core/src/balance/choose-move.ts',
    changes: [
      {
        find: "if (isGoingToAndFro(view, move.from, move.to, now)) return { kind: 'stop', move };",
        replace: '',
      },
    ],
    foundBy: 'packages/core/src/balance/choose-move.test.ts',
  },
  {
    name: 'moves-a-degraded-volume',
    breaks: 'a volume that lacks copies is not balanced',
    file: 'packages/core/src/balance/choose-move.ts',
    changes: [
      {
        find: "if (volume.robustness !== 'healthy') return",
        replace: 'if (volume.robustness === undefined) return',
      },
    ],
    foundBy: 'packages/core/src/balance/choose-move.test.ts',
  },
  {
    name: 'booked-sums-skip-what-is-missing',
    breaks: 'a disk that has booked less than its replicas have is a finding',
    file: 'packages/core/src/checks/booking-sums.ts',
    changes: [
      { find: 'return sum === storageScheduledBytes', replace: 'return sum <= storageScheduledBytes' },
    ],
    foundBy: 'packages/core/src/checks/booking-sums.test.ts',
  },
  {
    name: 'task-limit-checked-one-too-high',
    breaks: 'the check of task limits finds one task too many on a node',
    file: 'packages/core/src/checks/task-limits.ts',
    changes: [{ find: '(counts.get(id) ?? 0) > limit', replace: '(counts.get(id) ?? 0) > limit + 1' }],
    foundBy: 'packages/core/src/checks/task-limits.test.ts',
  },
  {
    name: 'check-believes-a-drained-node',
    breaks: 'a copy that is placed on a drained node is a finding',
    file: 'packages/core/src/checks/placement-invariants.ts',
    changes: [{ find: "...(node.drain === undefined ? [] : ['that is drained']),", replace: '' }],
    foundBy: 'packages/core/src/checks/placement-invariants.test.ts',
  },
  {
    name: 'drained-too-early',
    breaks: 'a node is drained only when no volume waits for it',
    file: 'packages/core/src/drain/drain-status.ts',
    changes: [
      {
        find: "if (waits.length === 0) return 'drained';",
        replace: "if (!waits.some(isUnderWay)) return 'drained';",
      },
    ],
    foundBy: 'packages/core/src/drain/drain-status.test.ts',
  },
  {
    name: 'drain-forgets-what-was-moved',
    breaks: 'what a drain has moved stays counted when more comes to be moved',
    file: 'packages/core/src/drain/drain-status.ts',
    changes: [
      {
        find: 'Math.max(before.replicasMoved, before.replicasToMove - left.replicas)',
        replace: 'before.replicasToMove - left.replicas',
      },
    ],
    foundBy: 'packages/core/src/drain/drain-status.test.ts',
  },
  {
    name: 'drain-plan-promises-too-much',
    breaks: 'the plan of a drain that a volume blocks says so',
    file: 'packages/core/src/drain/plan-drain.ts',
    changes: [
      {
        find: 'volumes.every(({ blockers }) => blockers.length === 0)',
        replace: 'volumes.some(({ blockers }) => blockers.length === 0)',
      },
    ],
    foundBy: 'packages/control/test/drain-plan.test.ts',
  },
  {
    name: 'pace-of-the-fast-half',
    breaks: 'the slow pace of a forecast is that of the slowest tenth of the measured rebuilds',
    file: 'packages/core/src/forecast/pace.ts',
    changes: [{ find: 'p90: 0.1 }', replace: 'p90: 0.9 }' }],
    foundBy: 'packages/core/src/forecast/pace.test.ts',
  },
  {
    name: 'begun-rebuild-estimated-anew',
    breaks: 'a rebuild that has begun is estimated by what it has to copy',
    file: 'packages/core/src/forecast/estimate-ends.ts',
    changes: [
      { find: 'return bytes.total > 0 ? bytes.total', replace: 'return bytes.total < 0 ? bytes.total' },
    ],
    foundBy: 'packages/core/src/forecast/estimate-ends.test.ts',
  },
  {
    name: 'what-if-hides-a-blocked-drain',
    breaks: 'a what-if whose drain strands volumes does not say that all fits',
    file: 'packages/core/src/forecast/answer-what-if.ts',
    changes: [
      { find: 'placed.allFit && !(hasDrains && told.volumesUnschedulable > 0)', replace: 'placed.allFit' },
    ],
    foundBy: 'packages/core/src/forecast/answer-what-if.test.ts',
  },
  {
    name: 'filter-and-is-or',
    breaks: 'both sides of AND have to match',
    file: 'packages/core/src/listing/match-filter.ts',
    changes: [{ find: 'filter.parts.every(', replace: 'filter.parts.some(' }],
    foundBy: 'packages/core/src/listing/match-filter.test.ts',
  },
  {
    name: 'sort-without-a-bound',
    breaks: 'an order has at most three fields',
    file: 'packages/core/src/listing/sort.ts',
    changes: [{ find: 'keys.length > KEYS_MAX', replace: 'keys.length > 10 * KEYS_MAX' }],
    foundBy: 'packages/core/src/listing/filter.test.ts',
  },
  {
    name: 'completion-offers-what-is-typed',
    breaks: 'a value that is typed in full is not offered again',
    file: 'packages/core/src/listing/complete-filter.ts',
    changes: [{ find: ' && option.toLowerCase() !== start', replace: '' }],
    foundBy: 'packages/core/src/listing/complete-filter.test.ts',
  },
  {
    name: 'layer-left-out-by-size',
    breaks: 'a layer is left out only where both sides have the same checksum',
    file: 'packages/core/src/rebuild/plan-layers.ts',
    changes: [
      {
        find: 'own.checksum !== layer.checksum || own.heldBytes !== layer.heldBytes',
        replace: 'own.heldBytes !== layer.heldBytes',
      },
    ],
    foundBy: 'packages/core/src/rebuild/plan-layers.test.ts',
  },
  {
    name: 'set-back-copy-catches-up-by-regions',
    breaks: 'a copy that was set back is not brought up to date by regions only',
    file: 'packages/core/src/rebuild/plan-layers.ts',
    changes: [
      {
        find: 'return compareRecords(own, since) >= 0;',
        replace: 'return compareRecords(own, since) !== undefined;',
      },
    ],
    foundBy: 'packages/core/src/rebuild/plan-layers.test.ts',
  },
  {
    name: 'source-without-a-checksum',
    breaks: 'a source that has no valid checksum proves no layer equal',
    file: 'packages/core/src/rebuild/plan-layers.ts',
    changes: [
      {
        find: `  if (layer.checksum === null) return 'the source has no valid checksum of it';
  if (own.checksum === null) return 'the target has no valid checksum of it';
`,
        replace: '',
      },
    ],
    foundBy: 'packages/core/src/rebuild/plan-layers.test.ts',
  },
  {
    name: 'setting-past-its-maximum',
    breaks: 'a setting stays within its bounds',
    file: 'packages/core/src/settings/effective.ts',
    changes: [
      { find: 'value >= definition.min && value <= definition.max', replace: 'value >= definition.min' },
    ],
    foundBy: 'packages/core/src/settings/defaults.test.ts',
  },
  {
    name: 'engine-map-with-a-key-missing',
    breaks: 'a map of engines names each of them',
    file: 'packages/core/src/settings/engine-maps.ts',
    changes: [{ find: 'isKnown && keys.length === engines.length', replace: 'isKnown' }],
    foundBy: 'packages/core/src/settings/defaults.test.ts',
  },
  {
    name: 'settings-of-the-other-engine',
    breaks: 'a setting of one data engine does not apply to the other',
    file: 'packages/core/src/settings/engine-maps.ts',
    changes: [
      {
        find: 'const own = settings.ofEngine?.[engine];',
        replace: 'const own = settings.ofEngine?.v1 ?? settings.ofEngine?.[engine];',
      },
    ],
    foundBy: 'packages/core/src/settings/defaults.test.ts',
  },
  {
    name: 'layer-names-hold-anything',
    breaks: "a name in an agent's answer is one line of printable characters",
    file: 'packages/core/src/model/message-fields.ts',
    changes: [
      {
        find: '.refine((text) => !NO_NAME.test(text),',
        replace: '.refine((text) => text !== NO_NAME.source,',
      },
    ],
    foundBy: 'packages/core/src/model/agent-answers.test.ts',
  },
];
