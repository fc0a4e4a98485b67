// Faults of the console: what a page says of the state of things.
export const CONSOLE_FAULTS = [
  {
    name: 'drained-while-it-waits',
    breaks: 'a drain that waits is not shown as drained',
    file: 'apps/console/src/shared/drain-words.ts',
    changes: [{ find: "if (state === 'drained') return", replace: "if (state !== 'blocked') return" }],
    foundBy: 'apps/console/src/shared/drain-words.test.ts',
  },
  {
    name: 'drain-without-a-healthy-copy',
    breaks: 'a drain that leaves a volume without a copy says so',
    file: 'apps/console/src/shared/drain-words.ts',
    changes: [{ find: 'if (number === 0) return', replace: 'if (number < 0) return' }],
    foundBy: 'apps/console/src/shared/drain-words.test.ts',
  },
  {
    name: 'token-in-a-copied-command',
    breaks: 'a copied command names the token and does not hold it',
    file: 'apps/console/src/shared/copy-forms.ts',
    changes: [{ find: 'authorization: Bearer $HOLDFAST_TOKEN', replace: 'authorization: Bearer token' }],
    foundBy: 'apps/console/src/shared/copy-forms.test.ts',
  },
  {
    name: 'empty-cluster-is-good',
    breaks: 'a cluster in which nothing more fits is shown as bad',
    file: 'apps/console/src/capacity/verdict.ts',
    changes: [{ find: "if (now.count === 0) return 'bad';", replace: '' }],
    foundBy: 'apps/console/src/capacity/verdict.test.ts',
  },
  {
    name: 'best-zone-is-the-worst',
    breaks: 'the verdict counts the zone whose loss costs most',
    file: 'apps/console/src/capacity/verdict.ts',
    changes: [
      { find: 'room.count < worst.count ? room : worst', replace: 'room.count > worst.count ? room : worst' },
    ],
    foundBy: 'apps/console/src/capacity/verdict.test.ts',
  },
  {
    name: 'verdict-before-all-answers',
    breaks: 'the verdict after a loss waits for the answer of every zone',
    file: 'apps/console/src/capacity/verdict.ts',
    changes: [{ find: 'if (rooms.length < after.length) return undefined;', replace: '' }],
    foundBy: 'apps/console/src/capacity/verdict.test.ts',
  },
  {
    name: 'cure-replaces-all-tags',
    breaks: 'a cure that tags a node keeps its other tags',
    file: 'apps/console/src/volume/cure-request.ts',
    changes: [{ find: 'new Set([...before, ...more])', replace: 'new Set(more)' }],
    foundBy: 'apps/console/src/volume/cure-request.test.ts',
  },
  {
    name: 'recovery-without-consent',
    breaks: 'a volume that was deleted is made again only with consent',
    file: 'apps/console/src/recovery/recovery-words.ts',
    changes: [{ find: "if (obstacle?.code === 'Deleted') {", replace: "if (obstacle?.code === 'Forked') {" }],
    foundBy: 'apps/console/src/recovery/recovery-words.test.ts',
  },
  {
    name: 'other-cluster-without-consent',
    breaks: 'copies of another cluster are taken only with consent',
    file: 'apps/console/src/recovery/recovery-words.ts',
    changes: [
      {
        find: '!isKnown && fromClusterId !== null && fromClusterId !== clusterId',
        replace: 'isKnown && fromClusterId !== null && fromClusterId !== clusterId',
      },
    ],
    foundBy: 'apps/console/src/recovery/recovery-words.test.ts',
  },
  {
    name: 'stale-row-beside-the-new-one',
    breaks: 'a row that has changed takes the place of the old one',
    file: 'apps/console/src/api/live/patch-rows.ts',
    changes: [
      {
        find: 'page.items.filter(({ id }) => !ids.has(id))',
        replace: 'page.items.filter(({ id }) => ids.has(id) || id !== "")',
      },
    ],
    foundBy: 'apps/console/src/api/live/patch-rows.test.ts',
  },
  {
    name: 'ended-rebuild-is-shown-as-running',
    breaks: 'a rebuild that has ended is asked for again',
    file: 'apps/console/src/api/live/patch-rebuilds.ts',
    changes: [
      {
        find: 'now !== undefined && now.state === shown.state &&',
        replace: 'now === undefined || now.state === shown.state &&',
      },
    ],
    foundBy: 'apps/console/src/api/live/patch-rebuilds.test.ts',
  },
  {
    name: 'more-changes-than-named',
    breaks: 'that more of a kind have changed than are named is left out',
    file: 'apps/console/src/api/live/read-ids.ts',
    changes: [{ find: 'if (ids === null) return [{ kind, ids }];', replace: '' }],
    foundBy: 'apps/console/src/api/live/read-ids.test.ts',
  },
  {
    name: 'causes-are-folded-in',
    breaks: 'events that others follow from are never folded',
    file: 'apps/console/src/shared/fold-events.ts',
    changes: [{ find: '&& run[0].effects === 0 && event.effects === 0', replace: '' }],
    foundBy: 'apps/console/src/shared/fold-events.test.ts',
  },
  {
    name: 'dry-run-hides-a-change',
    breaks: 'a dry run tells each field that changes',
    file: 'apps/console/src/shared/dry-run-words.ts',
    changes: [
      {
        find: '.filter((field) => field.before !== field.after)',
        replace: ".filter((field) => field.before !== field.after && field.before !== 'none')",
      },
    ],
    foundBy: 'apps/console/src/shared/dry-run-words.test.ts',
  },
  {
    name: 'selected-without-a-bound',
    breaks: 'a selection has at most a hundred volumes',
    file: 'apps/console/src/volumes/selection.ts',
    changes: [
      {
        find: 'return ids.size > SELECTED_MAX ? selection',
        replace: 'return ids.size > 2 * SELECTED_MAX ? selection',
      },
    ],
    foundBy: 'apps/console/src/volumes/selection.test.ts',
  },
];
