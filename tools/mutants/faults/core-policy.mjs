// Faults of core: what users, agents and nodes may do, and within which limits.
export const CORE_POLICY_FAULTS = [
  {
    name: 'earlier-state-taken-for-the-disk',
    breaks: 'a disk at an earlier stamp never takes the place of the disk',
    file: 'packages/core/src/policy/disk-identity.ts',
    changes: [{ find: "if (link === 'none')\n", replace: "if (link === 'none' && claim.id === null)\n" }],
    foundBy: 'packages/core/src/policy/disk-identity.test.ts',
  },
  {
    name: 'copied-files-taken-for-the-disk',
    breaks: 'a copy of the files of a disk in use never takes its place',
    file: 'packages/core/src/policy/disk-identity.ts',
    changes: [
      { find: 'stamp.fileId !== null && stamp.fileId === fileIdOf(claim)', replace: 'stamp.fileId !== null' },
    ],
    foundBy: 'packages/core/src/policy/disk-identity.test.ts',
  },
  {
    name: 'read-only-token-changes-things',
    breaks: 'a token for reading changes nothing',
    file: 'packages/access/src/decide-access.ts',
    changes: [
      {
        find: 'if (readOnly && !changesNothing(action))',
        replace: 'if (readOnly && changesNothing(action) === undefined)',
      },
    ],
    foundBy: 'packages/access/src/decide-access.test.ts',
  },
  {
    name: 'members-see-all-projects',
    breaks: 'a member sees the projects only that it has a role in',
    file: 'packages/access/src/decide-access.ts',
    changes: [
      {
        find: 'projectIds: isBounded ? [...facts.projectRoles.keys()] : undefined',
        replace: 'projectIds: undefined',
      },
    ],
    foundBy: 'packages/access/src/decide-access.test.ts',
  },
  {
    name: 'project-token-on-the-whole-cluster',
    breaks: 'a token of some projects does not act on the cluster that all share',
    file: 'packages/access/src/decide-access.ts',
    changes: [
      {
        find: "if (projectIds !== undefined) return 'projects';",
        replace: "if (projectIds !== undefined && whole === 'organization') return 'projects';",
      },
    ],
    foundBy: 'packages/access/src/decide-access.test.ts',
  },
  {
    name: 'quota-off-by-one',
    breaks: 'a change that reaches a quota exactly is within it',
    file: 'packages/access/src/quota.ts',
    changes: [{ find: 'after[dimension] <= limit', replace: 'after[dimension] < limit' }],
    foundBy: 'packages/access/src/quota.test.ts',
  },
  {
    name: 'quota-counts-one-copy',
    breaks: 'a volume uses physical bytes for each of its copies',
    file: 'packages/access/src/quota.ts',
    changes: [{ find: 'provisionedBytes * numberOfReplicas', replace: 'provisionedBytes' }],
    foundBy: 'packages/access/src/quota.test.ts',
  },
  {
    name: 'quota-holds-what-shrinks',
    breaks: 'what shrinks is allowed although a lowered quota is passed',
    file: 'packages/access/src/quota.ts',
    changes: [{ find: ' || asked <= 0', replace: '' }],
    foundBy: 'packages/access/src/quota.test.ts',
  },
  {
    name: 'heartbeat-from-the-future',
    breaks: 'a heartbeat with a stamp from the future keeps no node alive',
    file: 'packages/core/src/policy/node-liveness.ts',
    changes: [
      {
        find: 'const heardAtMs = isBelievable ? node.lastHeartbeatAt.getTime() : 0;',
        replace: 'const heardAtMs = node.lastHeartbeatAt.getTime() + Number(isBelievable) * 0;',
      },
    ],
    foundBy: 'packages/core/src/policy/node-liveness.test.ts',
  },
  {
    name: 'restart-of-the-judge-kills-nodes',
    breaks: 'silence from before the start of the judge proves nothing',
    file: 'packages/core/src/policy/node-liveness.ts',
    changes: [
      { find: 'Math.max(heardAtMs, since.getTime())', replace: 'Math.min(heardAtMs, since.getTime())' },
    ],
    foundBy: 'packages/core/src/policy/node-liveness.test.ts',
  },
  {
    name: 'quota-leased-twice',
    breaks: 'all processes together never give out more requests than the quota',
    file: 'packages/access/src/request-permits.ts',
    changes: [{ find: 'Math.max(0, Math.min(size, limit - (takenInAll - size)))', replace: 'size' }],
    foundBy: 'packages/access/src/request-permits.test.ts',
  },
  {
    name: 'salvage-of-a-stale-copy',
    breaks: 'a copy that missed writes is not named for a salvage',
    file: 'packages/core/src/policy/decide-salvage.ts',
    changes: [
      {
        find: "highest?.members.includes(replicaId) === true ? 'usable' : 'stale'",
        replace: "highest === undefined ? 'stale' : 'usable'",
      },
    ],
    foundBy: 'packages/core/src/policy/decide-salvage.test.ts',
  },
  {
    name: 'drain-of-the-last-ready-node',
    breaks: 'a drain that waits for copies elsewhere is refused where there is no other node',
    file: 'packages/core/src/policy/decide-drain.ts',
    changes: [
      {
        find: 'node.id !== id && isNodeReady(node) && !node.cordoned',
        replace: 'isNodeReady(node) && !node.cordoned',
      },
    ],
    foundBy: 'packages/core/src/policy/decide-drain.test.ts',
  },
  {
    name: 'last-lasting-copy-dropped',
    breaks: 'a user does not drop the last full copy that stays',
    file: 'packages/core/src/policy/decide-removal.ts',
    changes: [
      {
        find: 'if (lasting.length !== 1 || lasting[0]?.id !== replicaId) return decision;',
        replace: 'if (lasting.length !== 0) return decision;',
      },
    ],
    foundBy: 'packages/core/src/policy/decide-removal.test.ts',
  },
  {
    name: 'join-token-of-a-removed-member',
    breaks: 'a join token is judged by what its maker may at its use',
    file: 'packages/core/src/policy/decide-join.ts',
    changes: [{ find: 'if (!isMakerEntitled) {', replace: 'if (!isMakerEntitled && uses > 0) {' }],
    foundBy: 'packages/core/src/policy/decide-join.test.ts',
  },
  {
    name: 'tokens-forget-projects',
    breaks: 'a token is made for the strongest role that its user has anywhere',
    file: 'packages/access/src/permissions.ts',
    changes: [{ find: 'Math.max(...[role, ...projectRoles.values()]', replace: 'Math.max(...[role, ...[]]' }],
    foundBy: 'apps/api/test/project-roles.test.ts',
  },
  {
    name: 'forgotten-without-half-of-the-members',
    breaks:
      'a node is forgotten with fewer than half of the last members elsewhere only where that loss is accepted',
    file: 'packages/core/src/policy/decide-forget.ts',
    changes: [{ find: 'left > 0 && left * 2 >= members.length', replace: 'left > 0' }],
    foundBy: 'packages/core/src/policy/decide-forget.test.ts',
  },
  {
    name: 'running-node-forgotten',
    breaks: 'a node whose agent runs is not forgotten',
    file: 'packages/core/src/policy/decide-forget.ts',
    changes: [
      {
        find: 'if (!isNodeReady(node)) return ALLOWED;',
        replace: 'if (isNodeReady(node) !== undefined) return ALLOWED;',
      },
    ],
    foundBy: 'packages/core/src/policy/decide-forget.test.ts',
  },
];
