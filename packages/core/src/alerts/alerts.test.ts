import { describe, expect, test } from '@jest/globals';
import { parseFilter } from '../listing/filter.js';
import { ALERT_FIELDS, decideAlerts, type FiringAlert, type Silence } from './decide-alerts.js';
import { type ClusterFacts, type FoundAlert, findAlerts, NO_EFFECTS } from './find-alerts.js';

const NOON = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(NOON.getTime() - minutes * 60_000);
const ahead = (minutes: number) => ago(-minutes);
const WELL: ClusterFacts = {
  cluster: { id: 'c', name: 'main' },
  nodes: [],
  disks: [],
  volumes: [],
  withoutPlace: { copies: 0, oldestAt: undefined },
  waiting: { rebuilds: 0, oldestAt: undefined },
  differing: { volumes: 0, oldestAt: undefined },
  authorityNotAfter: ahead(60 * 24 * 300),
};
const node = (over: object = {}) => ({
  id: 'n1',
  name: 'node-1',
  isReady: true,
  since: ago(90),
  copies: 5,
  volumesServed: 2,
  certificateNotAfter: ahead(60 * 20),
  ...over,
});
const disk = (over: object = {}) => ({
  id: 'd1',
  name: 'disk-1',
  nodeId: 'n1',
  nodeName: 'node-1',
  isReady: true,
  since: ago(90),
  reason: 'ReadOnly',
  copies: 5,
  maximumBytes: 1_000,
  availableBytes: 500,
  ...over,
});
const volume = (fullCopies: number, over: object = {}) => ({
  fullCopies,
  wantedCopies: 3,
  since: ago(10),
  failedOn: [{ nodeId: 'n1', diskId: 'd1' }],
  ...over,
});
const found = (facts: Partial<ClusterFacts>) =>
  findAlerts({ ...WELL, nodes: [node()], disks: [disk()], ...facts }, NOON);
const rulesOf = (facts: Partial<ClusterFacts>) => found(facts).map(({ rule }) => rule);

describe('findAlerts', () => {
  test.each<{ name: string; facts: Partial<ClusterFacts>; want: string[] }>([
    { name: 'all is well', facts: {}, want: [] },
    {
      name: 'copies of a volume differ',
      facts: { differing: { volumes: 1, oldestAt: ago(0) } },
      want: ['CopiesDiffer'],
    },
    { name: 'a node is silent', facts: { nodes: [node({ isReady: false })] }, want: ['NodeSilent'] },
    { name: 'it just fell silent', facts: { nodes: [node({ isReady: false, since: ago(0.9) })] }, want: [] },
    { name: 'a disk fails', facts: { disks: [disk({ isReady: false })] }, want: ['DiskFailed'] },
    {
      name: 'a silent node explains its disks and volumes',
      facts: { nodes: [node({ isReady: false })], disks: [disk({ isReady: false })], volumes: [volume(1)] },
      want: ['NodeSilent'],
    },
    {
      name: 'a node explains them from its first moment',
      facts: {
        nodes: [node({ isReady: false, since: ago(0) })],
        disks: [disk({ isReady: false })],
        volumes: [volume(0)],
      },
      want: [],
    },
    {
      name: 'a disk explains its volumes',
      facts: { disks: [disk({ isReady: false })], volumes: [volume(0)] },
      want: ['DiskFailed'],
    },
    { name: 'a volume is on its last copy', facts: { volumes: [volume(1)] }, want: ['VolumesOnLastCopy'] },
    { name: 'it wants one copy', facts: { volumes: [volume(1, { wantedCopies: 1 })] }, want: [] },
    { name: 'it has two', facts: { volumes: [volume(2)] }, want: [] },
    { name: 'it came to it just now', facts: { volumes: [volume(1, { since: ago(1.9) })] }, want: [] },
    { name: 'it has none', facts: { volumes: [volume(0, { since: NOON })] }, want: ['VolumesFaulted'] },
    { name: 'a disk is full', facts: { disks: [disk({ availableBytes: 99 })] }, want: ['DiskNearlyFull'] },
    { name: 'it has a tenth left', facts: { disks: [disk({ availableBytes: 100 })] }, want: [] },
    {
      name: 'a copy has no place',
      facts: { withoutPlace: { copies: 1, oldestAt: ago(2) } },
      want: ['CopiesWithoutPlace'],
    },
    { name: 'it is looked for', facts: { withoutPlace: { copies: 1, oldestAt: ago(1.9) } }, want: [] },
    {
      name: 'a rebuild waits',
      facts: { waiting: { rebuilds: 1, oldestAt: ago(30) } },
      want: ['RebuildsWaiting'],
    },
    { name: 'its turn comes', facts: { waiting: { rebuilds: 9, oldestAt: ago(29) } }, want: [] },
    {
      name: 'a certificate ends',
      facts: { nodes: [node({ certificateNotAfter: ahead(119) })] },
      want: ['CertificateExpires'],
    },
    {
      name: 'one of a silent node ends',
      facts: { nodes: [node({ isReady: false, certificateNotAfter: ahead(119) })] },
      want: ['NodeSilent'],
    },
    {
      name: 'the authority ends',
      facts: { authorityNotAfter: ahead(60 * 24 * 13) },
      want: ['AuthorityExpires'],
    },
  ])('$name: $want', ({ facts, want }) => {
    expect(rulesOf(facts)).toEqual(want);
  });

  test('effects are counted with their cause', () => {
    const volumes = [volume(1), volume(1), volume(0), volume(2), volume(1, { failedOn: [] })];
    const [silent, onLast] = found({ nodes: [node({ isReady: false })], volumes });
    expect(silent).toMatchObject({
      message:
        'node node-1 is not heard: 5 copies are there, 2 volumes are served there, 2 volumes have one full copy left, 1 volume has none',
      effects: { copies: 5, volumesOnLastCopy: 2, volumesFaulted: 1, volumesServedThere: 2 },
    });
    expect(onLast).toMatchObject({ rule: 'VolumesOnLastCopy', effects: { volumesOnLastCopy: 1 } });
  });
});

describe('decideAlerts', () => {
  const alert = {
    rule: 'NodeSilent',
    subject: node(),
    since: ago(5),
    message: 'm',
    effects: NO_EFFECTS,
  } as const;
  const firing: FiringAlert = { ...alert, id: 'a1', isTold: true, silenceId: undefined };
  const silence = (over: Partial<Silence> = {}, matcher = 'rule=Node* AND subjectName=node-1'): Silence => {
    const parsed = parseFilter(matcher, ALERT_FIELDS);
    if (parsed === undefined) throw new Error('no matcher');
    return { id: 's', matcher: parsed, startsAt: ago(1), endsAt: ahead(1), ...over };
  };
  const silenced: FiringAlert = { ...firing, isTold: false, silenceId: 's' };

  test.each<{
    name: string;
    found: FoundAlert[];
    firing: FiringAlert[];
    silences?: Silence[];
    want: object[];
  }>([
    { name: 'a new one is told', found: [alert], firing: [], want: [{ kind: 'fire', tells: true }] },
    { name: 'one that fires on is not told again', found: [alert], firing: [firing], want: [] },
    {
      name: 'other effects change it',
      found: [{ ...alert, since: NOON, message: 'n' }],
      firing: [firing],
      want: [{ kind: 'update', id: 'a1', tells: false, alert: { message: 'n', since: ago(5) } }],
    },
    {
      name: 'its end is told',
      found: [],
      firing: [firing],
      want: [{ kind: 'resolve', id: 'a1', tells: true }],
    },
    {
      name: 'a silenced one is not told',
      found: [alert],
      firing: [],
      silences: [silence()],
      want: [{ kind: 'fire', silenceId: 's', tells: false }],
    },
    {
      name: 'a silence that has ended does not hold it',
      found: [alert],
      firing: [],
      silences: [silence({ endsAt: NOON })],
      want: [{ kind: 'fire', tells: true }],
    },
    {
      name: 'nor one to come',
      found: [alert],
      firing: [],
      silences: [silence({ startsAt: ahead(0.5) })],
      want: [{ kind: 'fire', tells: true }],
    },
    {
      name: 'nor one of another subject',
      found: [alert],
      firing: [],
      silences: [silence({}, 'subjectName=node-2')],
      want: [{ kind: 'fire', tells: true }],
    },
    {
      name: 'it is told when its silence ends',
      found: [alert],
      firing: [silenced],
      want: [{ kind: 'update', id: 'a1', tells: true }],
    },
    {
      name: 'what was never told ends untold',
      found: [],
      firing: [silenced],
      want: [{ kind: 'resolve', tells: false }],
    },
    {
      name: 'what was told ends told, silenced or not',
      found: [],
      firing: [firing],
      silences: [silence()],
      want: [{ kind: 'resolve', tells: true }],
    },
  ])('$name', ({ found: given, firing: before, silences = [], want }) => {
    expect(decideAlerts(given, before, silences, NOON)).toMatchObject(want);
    expect(decideAlerts(given, before, silences, NOON)).toHaveLength(want.length);
  });
});
