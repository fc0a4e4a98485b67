// Faults of the agent.
export const AGENT_FAULTS = [
  {
    name: 'secret-of-another-node',
    breaks: 'a secret of a copy admits the node only that it was made for',
    file: 'apps/agent/src/copy-access.ts',
    changes: [
      { find: 'caller !== undefined && caller !== use.nodeId', replace: 'caller === use.nodeId && false' },
    ],
    foundBy: 'apps/agent/src/copy-access.test.ts',
  },
  {
    name: 'older-epoch-commands-a-copy',
    breaks: 'a secret commands a copy in its own epoch only',
    file: 'apps/agent/src/copy-access.ts',
    changes: [{ find: "use.kind === 'snapshot' || use.epoch !== epoch", replace: "use.kind === 'snapshot'" }],
    foundBy: 'apps/agent/src/copy-access.test.ts',
  },
  {
    name: 'reader-sees-the-whole-device',
    breaks: 'the target of a rebuild reads layers only',
    file: 'apps/agent/src/copy-access.ts',
    changes: [
      {
        find: "return name.kind === 'layer' && name.epoch === use.epoch;",
        replace: "return name.kind !== 'snapshot' && name.epoch === use.epoch;",
      },
    ],
    foundBy: 'apps/agent/src/copy-access.test.ts',
  },
  {
    name: 'failed-verification-is-kept',
    breaks: 'a verification that failed may be tried again',
    file: 'apps/agent/src/verifications.ts',
    changes: [
      {
        find: 'if (this.byReplica.get(replicaId)?.result === result) this.byReplica.delete(replicaId);',
        replace: '',
      },
    ],
    foundBy: 'apps/agent/src/verifications.test.ts',
  },
  {
    name: 'answers-without-a-bound',
    breaks: 'an answer that is too long is not read to its end',
    file: 'apps/agent/src/json-http.ts',
    changes: [{ find: 'if (length > ANSWER_BYTES_MAX)', replace: 'if (length > 64 * ANSWER_BYTES_MAX)' }],
    foundBy: 'apps/agent/src/json-http.test.ts',
  },
  {
    name: 'cut-connection-fails-the-call',
    breaks: 'a call on a connection that was just closed is sent once more',
    file: 'apps/agent/src/json-http.ts',
    changes: [{ find: 'if (error instanceof StaleConnection) return send(call);', replace: '' }],
    foundBy: 'apps/agent/src/resent-calls.test.ts',
  },
  {
    name: 'wildcard-address-is-advertised',
    breaks: 'an agent that listens on all addresses names one of its own',
    file: 'apps/agent/src/config.ts',
    changes: [
      {
        find: '!isWildcard(env.HOLDFAST_ADVERTISE_HOST ?? env.HOLDFAST_BIND_HOST)',
        replace: "!isWildcard(env.HOLDFAST_ADVERTISE_HOST ?? '127.0.0.1')",
      },
    ],
    foundBy: 'apps/agent/src/config.test.ts',
  },
  {
    name: 'tls-without-its-files',
    breaks: 'an agent that serves TLS has its files named',
    file: 'apps/agent/src/config.ts',
    changes: [
      {
        find: "if (env.HOLDFAST_NBD_TLS === 'off') return;",
        replace: "if (env.HOLDFAST_NBD_TLS !== 'require') return;",
      },
    ],
    foundBy: 'apps/agent/src/config.test.ts',
  },
  {
    name: 'hung-disk-holds-up-all-calls',
    breaks: 'a disk that hangs is asked no more until it answers',
    file: 'apps/agent/src/disks/watched-disk.ts',
    changes: [{ find: 'if (this.answers.oldestMs > this.limitMs) throw this.refusal();', replace: '' }],
    foundBy: 'apps/agent/src/disks/watched-disk.test.ts',
  },
  {
    name: 'hung-disk-is-shown-as-ready',
    breaks: 'a disk that hangs is reported as hung',
    file: 'apps/agent/src/disks/watched-disk.ts',
    changes: [
      {
        find: 'if (lastReport !== undefined && !this.isHung()) return lastReport;',
        replace: 'if (lastReport !== undefined) return lastReport;',
      },
    ],
    foundBy: 'apps/agent/src/disks/watched-disk.test.ts',
  },
  {
    name: 'calls-outlive-their-host',
    breaks: 'calls to a host process that is gone end',
    file: 'apps/agent/src/hosts/ipc-peer.ts',
    changes: [
      {
        find: '    for (const { reject } of waiting) reject(hostGone());',
        replace: '    waiting.length = 0;',
      },
    ],
    foundBy: 'apps/agent/src/hosts/ipc-peer.test.ts',
  },
  {
    name: 'fault-loses-its-epoch',
    breaks: 'a fault between processes keeps the epoch that it tells of',
    file: 'apps/agent/src/hosts/ipc-peer.ts',
    changes: [{ find: 'newestEpoch: newestEpochOf(error) }', replace: 'newestEpoch: undefined }' }],
    foundBy: 'apps/agent/src/hosts/ipc-peer.test.ts',
  },
  {
    name: 'heap-without-room',
    breaks: 'a small heap has room for the payloads of requests in flight',
    file: 'apps/agent/src/hosts/heap-growth.ts',
    changes: [
      { find: 'Math.ceil((100 * ROOM_BYTES) / heapBytes)', replace: 'Math.ceil(ROOM_BYTES / heapBytes)' },
    ],
    foundBy: 'apps/agent/src/hosts/heap-growth.long.test.ts',
  },
  {
    name: 'incomplete-message-is-taken',
    breaks: 'a message is whole only with all its pages',
    file: 'apps/agent/src/http/message-pages.ts',
    changes: [{ find: 'pages.length === 0 || pages.includes(undefined)', replace: 'pages.length === 0' }],
    foundBy: 'apps/agent/src/http/message-pages.test.ts',
  },
  {
    name: 'long-messages-without-a-bound',
    breaks: 'a bounded number of long messages is under way',
    file: 'apps/agent/src/http/message-pages.ts',
    changes: [{ find: 'if (this.messages.size >= MESSAGES_MAX) throw tooMany();', replace: '' }],
    foundBy: 'apps/agent/src/http/message-pages.test.ts',
  },
  {
    name: 'expired-certificate-commands',
    breaks: 'a certificate that has ended admits to nothing',
    file: 'apps/agent/src/http/control-server.ts',
    changes: [
      {
        find: 'shown !== undefined && new Date(shown.validTo) > new Date() ? shown : undefined',
        replace: 'shown',
      },
    ],
    foundBy: 'apps/agent/test/control-tls.test.ts',
    onDist: true,
  },
  {
    name: 'node-of-another-cluster-commands',
    breaks: 'a node of another cluster commands no copy',
    file: 'apps/agent/src/http/control-server.ts',
    changes: [
      {
        find: 'if (node !== undefined && node.clusterId === ownCluster) return;',
        replace: 'if (node !== undefined) return;',
      },
    ],
    foundBy: 'apps/agent/test/control-tls.test.ts',
    onDist: true,
  },
  {
    name: 'any-authority-is-believed',
    breaks: 'an agent believes only the authority that its join token names',
    file: 'apps/agent/src/identity/first-contact.ts',
    changes: [
      {
        find: 'authorities.find((authority) => hasFingerprint(authority, fingerprint))',
        replace: 'authorities[0]',
      },
    ],
    foundBy: 'apps/agent/test/identity.test.ts',
    onDist: true,
  },
  {
    name: 'identity-is-forgotten',
    breaks: 'the identity of a node is kept when its agent starts again',
    file: 'apps/agent/src/identity/stored-identity.ts',
    changes: [
      {
        find: '...identity } = data;\n    return identity;',
        replace: '...identity } = data;\n    void identity;\n    return undefined;',
      },
    ],
    foundBy: 'apps/agent/test/identity.test.ts',
    onDist: true,
  },
  {
    name: 'any-node-is-the-right-one',
    breaks: 'an agent calls the node only whose certificate is shown',
    file: 'apps/agent/src/identity/node-connections.ts',
    changes: [{ find: 'servername: nodeDnsName(nodeId),', replace: 'checkServerIdentity: () => undefined,' }],
    foundBy: 'apps/agent/src/node-tls.test.ts',
  },
  {
    name: 'metrics-for-all',
    breaks: 'metrics are told to the machine itself or with the token',
    file: 'apps/agent/src/metrics/agent-metrics.ts',
    changes: [
      {
        find: "if (!mayReadMetrics(scraper, token)) return reply.status(403).send({ status: 'forbidden' });",
        replace: '',
      },
    ],
    foundBy: 'apps/agent/src/metrics/agent-metrics.test.ts',
  },
  {
    name: 'metrics-through-a-proxy',
    breaks: "metrics are not told to a proxy's callers",
    file: 'apps/agent/src/metrics/agent-metrics.ts',
    changes: [
      {
        find: "headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined",
        replace: 'headers.forwarded !== undefined',
      },
    ],
    foundBy: 'apps/agent/src/metrics/agent-metrics.test.ts',
  },
  {
    name: 'limited-verifications-run-at-once',
    breaks: 'comparisons with a limited rate are read one after another',
    file: 'apps/agent/src/verifications.ts',
    changes: [
      {
        find: 'limit === undefined ? this.checksum(replicaId)',
        replace: 'limit !== 0 ? this.checksum(replicaId)',
      },
    ],
    foundBy: 'apps/agent/src/verifications.test.ts',
  },
];
