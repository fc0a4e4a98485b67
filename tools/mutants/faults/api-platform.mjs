// Faults of the API, resources from recoveries to webhooks, and what stands beneath them.
export const API_PLATFORM_FAULTS = [
  {
    name: 'recovery-without-its-project',
    breaks: 'a recovered volume goes into a project of the organization',
    file: 'apps/api/src/resources/recoveries/recoveries.controller.ts',
    changes: [{ find: 'projects: await oldestProjects(sql)', replace: 'projects: []' }],
    foundBy: 'apps/api/test/recoveries.test.ts',
  },
  {
    name: 'recovery-without-missing-copies',
    breaks: 'a volume whose copies are missing is recovered only with consent',
    file: 'apps/api/src/resources/recoveries/recoveries.controller.ts',
    changes: [
      {
        find: 'await recoverVolume(tenant.ports, { place, volumeId: path.volumeId, choice });',
        replace:
          'await recoverVolume(tenant.ports, { place, volumeId: path.volumeId, choice: { ...choice, acceptsMissing: true } });',
      },
    ],
    foundBy: 'apps/api/test/recoveries.test.ts',
  },
  {
    name: 'snapshot-of-another-volume',
    breaks: 'a snapshot is read below its own volume only',
    file: 'apps/api/src/resources/snapshots/snapshots.service.ts',
    changes: [
      {
        find: "return found === undefined ? { ...before, state: 'removing' } : snapshotView(found);",
        replace: 'return before;',
      },
    ],
    foundBy: 'apps/api/test/snapshots.test.ts',
  },
  {
    name: 'default-is-shown-as-set',
    breaks: 'a setting that was not set is shown as the default',
    file: 'apps/api/src/resources/settings/read-settings.ts',
    changes: [
      {
        find: 'const isDefault = !Object.hasOwn(overrides, name);',
        replace: 'const isDefault = Object.hasOwn(overrides, name);',
      },
    ],
    foundBy: 'apps/api/test/volume-settings.test.ts',
  },
  {
    name: 'older-version-of-a-quota',
    breaks: 'a quota is set under its version',
    file: 'apps/api/src/resources/tenancy/quotas.controller.ts',
    changes: [
      {
        find: `  assertVersion(version, ifVersion);
`,
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/quotas.test.ts',
  },
  {
    name: 'answer-older-than-its-question',
    breaks: 'a read that was sent before the question is not its answer',
    file: 'apps/api/src/http/shared-read.ts',
    changes: [
      {
        find: `      () => this.start(key, read).answer,
      (error`,
        replace: `      (answer) => answer,
      (error`,
      },
    ],
    foundBy: 'apps/api/src/http/shared-read.test.ts',
  },
  {
    name: 'memo-without-a-bound',
    breaks: 'the memo of answers has a bound',
    file: 'apps/api/src/http/stamped-memo.ts',
    changes: [
      {
        find: 'while (this.heldBytes > this.bytesMax) this.removeAt',
        replace: 'if (this.heldBytes > 100 * this.bytesMax) this.removeAt',
      },
    ],
    foundBy: 'apps/api/src/http/stamped-memo.test.ts',
  },
  {
    name: 'memo-of-an-older-stamp',
    breaks: 'an answer of an older stamp is not given',
    file: 'apps/api/src/http/stamped-memo.ts',
    changes: [
      {
        find: 'return entry?.stamp === stamp ? entry.written : undefined;',
        replace: 'return stamp === undefined ? undefined : entry?.written;',
      },
    ],
    foundBy: 'apps/api/src/http/stamped-memo.test.ts',
  },
  {
    name: 'stale-if-match-is-ignored',
    breaks: 'a write under an older tag is refused',
    file: 'apps/api/src/access/if-match.interceptor.ts',
    changes: [
      {
        find: 'if (statusCode === 404 || isKnown(given, String(headers.etag))) return;',
        replace: 'if (statusCode >= 200) return;',
      },
    ],
    foundBy: 'apps/api/test/repeated-and-conditional-requests.test.ts',
  },
  {
    name: 'pause-goes-on',
    breaks: 'a rebuild that is paused stands still',
    file: 'apps/api/src/resources/rebuilds/rebuild-actions.ts',
    changes: [{ find: 'ifVersion, paused: true })', replace: 'ifVersion, paused: false })' }],
    foundBy: 'apps/api/test/rebuilds.test.ts',
  },
  {
    name: 'rebuild-under-a-stale-version',
    breaks: 'a rebuild is changed under its version',
    file: 'apps/api/src/resources/rebuilds/rebuilds.service.ts',
    changes: [
      { find: 'rebuildId: key.rebuildId, ifVersion, ...body', replace: 'rebuildId: key.rebuildId, ...body' },
    ],
    foundBy: 'apps/api/test/rebuilds.test.ts',
  },
  {
    name: 'setting-under-a-stale-version',
    breaks: 'a setting is changed under the version of its cluster',
    file: 'apps/api/src/resources/settings/write-setting.ts',
    changes: [
      {
        find: '{ name, value, ifVersion }',
        replace: '{ name, value }',
      },
    ],
    foundBy: 'apps/api/test/repeated-and-conditional-requests.test.ts',
  },
  {
    name: 'retried-snapshot-is-taken-twice',
    breaks: 'a request that is repeated with its key takes one snapshot',
    file: 'apps/api/src/resources/snapshots/snapshots.service.ts',
    changes: [{ find: 'if (earlier !== undefined) return earlier;', replace: '' }],
    foundBy: 'apps/api/test/snapshots.test.ts',
  },
  {
    name: 'quota-set-by-admins',
    breaks: 'the quota of an organization is set by its owners',
    file: 'apps/api/src/resources/tenancy/quotas.controller.ts',
    changes: [
      {
        find: `      assertOwner(tenant);
`,
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/quotas.test.ts',
  },
  {
    name: 'job-of-a-caller-who-is-gone',
    breaks: 'a job ends when its caller goes away',
    file: 'apps/api/src/resources/threads/thread-pool.ts',
    changes: [{ find: 'AbortSignal.any([gone, late])', replace: 'AbortSignal.any([late])' }],
    foundBy: 'apps/api/test/threads.test.ts',
  },
  {
    name: 'jobs-without-a-bound',
    breaks: 'one job more than the pool takes is refused',
    file: 'apps/api/src/resources/threads/thread-pool.ts',
    changes: [{ find: 'waitingOfOwner: 4, waiting: 16', replace: 'waitingOfOwner: 400, waiting: 1600' }],
    foundBy: 'apps/api/test/threads.test.ts',
  },
  {
    name: 'refusal-of-a-thread-is-a-bug',
    breaks: 'a refusal of a job in a thread is told as such',
    file: 'apps/api/src/app/thread.ts',
    changes: [{ find: 'if (!isFault(error)) throw error;', replace: 'if (isFault(error)) throw error;' }],
    foundBy: 'apps/api/test/placements.test.ts',
    onDist: true,
  },
  {
    name: 'address-for-readers',
    breaks: 'the address of a volume is for those who may change it',
    file: 'apps/api/src/resources/volumes/volume.view.ts',
    changes: [{ find: 'if (!mayWrite) return { nbdUri: null };', replace: '' }],
    foundBy: 'apps/api/test/volumes.test.ts',
  },
  {
    name: 'places-of-another-organization',
    breaks: 'no explanation names places of a granted cluster',
    file: 'apps/api/src/resources/volumes/volumes.service.ts',
    changes: [
      {
        find: `    assertOwnCluster(view.volume);
`,
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/grants.test.ts',
  },
  {
    name: 'webhooks-without-a-bound',
    breaks: 'an organization has a bounded number of webhooks',
    file: 'apps/api/src/resources/webhooks/webhooks.controller.ts',
    changes: [
      { find: '>= WEBHOOKS_MAX) throw tooMany();', replace: '> 10 * WEBHOOKS_MAX) throw tooMany();' },
    ],
    foundBy: 'apps/api/test/webhooks.test.ts',
  },
  {
    name: 'webhook-under-a-stale-version',
    breaks: 'a webhook is changed under its version',
    file: 'apps/api/src/resources/webhooks/webhooks.controller.ts',
    changes: [
      {
        find: `      const { version } = await requireWebhook(sql, id);
      assertVersion(version, ifVersion);`,
        replace: '      const { version } = await requireWebhook(sql, id);',
      },
    ],
    foundBy: 'apps/api/test/webhooks.test.ts',
  },
  {
    name: 'logs-tell-unknown-parameters',
    breaks: 'a logged address tells values of known parameters only',
    file: 'apps/api/src/http/logged-address.ts',
    changes: [
      {
        find: "return TOLD.has(name) && !part.includes('?') ? part",
        replace: "return name !== 'code' ? part",
      },
    ],
    foundBy: 'apps/api/src/http/logged-address.test.ts',
  },
  {
    name: 'right-is-not-held',
    breaks: 'what outlives its request is made only while its maker has the right until it is there',
    file: 'apps/api/src/access/hold-right.ts',
    changes: [
      { find: 'if (await mayStill(sql, kind, actor)) return;', replace: 'if (kind !== undefined) return;' },
    ],
    foundBy: 'apps/api/test/left-behind.test.ts',
  },
  {
    name: 'an-empty-variable-is-a-value',
    breaks: 'an empty variable of the environment is one that is not set',
    file: 'apps/api/src/config/config.ts',
    changes: [{ find: "filter(([, value]) => value !== '')", replace: 'filter(() => true)' }],
    foundBy: 'apps/api/src/config/config.test.ts',
  },
  {
    name: 'every-address-is-a-proxy',
    breaks: 'not every address there is may be trusted as a proxy',
    file: 'apps/api/src/config/config.ts',
    changes: [{ find: '/\\/0+$/.test(range)', replace: '/never/.test(range)' }],
    foundBy: 'apps/api/src/config/config.test.ts',
  },
  {
    name: 'document-without-shared-refusals',
    breaks: 'the document names the refusals that follow from what a route takes',
    file: 'apps/api/src/openapi/refusals.ts',
    changes: [{ find: "...choose(hasKey, 'idempotency.key_reused', 'idempotency.in_flight'),", replace: '' }],
    foundBy: 'apps/api/test/openapi.test.ts',
  },
  {
    name: 'example-with-another-status',
    breaks: 'each status of the document names the codes of that status only',
    file: 'apps/api/src/openapi/refusals.ts',
    changes: [{ find: 'status = statusOfCode(code)', replace: 'status = 400' }],
    foundBy: 'apps/api/test/openapi.test.ts',
  },
  {
    name: 'heartbeat-for-another-node',
    breaks: 'an agent reports for its own node only',
    file: 'apps/api/src/resources/agent/agent.controller.ts',
    changes: [
      { find: 'if (heartbeat.node.name !== agent.name) {', replace: 'if (heartbeat.node.name === null) {' },
    ],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'password-without-its-old-one',
    breaks: 'all other sessions end when the password is changed',
    file: 'apps/api/src/resources/sessions/sessions.controller.ts',
    changes: [{ find: 'await endOtherSessions(sql, userId, tokenId);', replace: '' }],
    foundBy: 'apps/api/test/sign-in-and-sessions.test.ts',
  },
  {
    name: 'session-that-outlives-its-week',
    breaks: 'a session ends after a week at the latest',
    file: 'apps/api/src/resources/sessions/open-session.ts',
    changes: [{ find: 'const SESSION_HOURS = 24 * 7;', replace: 'const SESSION_HOURS = 24 * 70;' }],
    foundBy: 'apps/api/test/sign-in-and-sessions.test.ts',
  },
];
