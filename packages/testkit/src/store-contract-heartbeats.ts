import { AGENT_PROTOCOL_VERSION } from '@holdfast/core/model/agent-protocol.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { NO_BYTES } from '@holdfast/core/model/rebuild.js';
import { describe, expect, test } from '@jest/globals';
import {
  aDiskReport,
  aHeartbeat,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aReplica,
  NOON,
  secondsAfterNoon,
  testId,
} from './builders.js';
import { attachedOn, attachingOn } from './lifecycle-builder.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));
const REPLICA = asId<ReplicaId>(testId(101));
const LATER = new Date(NOON.getTime() + 5_000);

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function heartbeatContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const beat = (part: Parameters<typeof aHeartbeat>[1] = {}, now = LATER) =>
    fixture.store.recordHeartbeat(fixture.tenant.clusterId, aHeartbeat('node-1', part), now);

  /** A volume attached to node-1 at epoch 2, with one replica there. */
  async function attachedVolume(): Promise<NodeId> {
    const nodeId = await fixture.node();
    const replica = aReplica({ volumeId: VOLUME, nodeId, diskId: DISK });
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const { sizeBytes } = replica;
    const booking = { diskId: DISK, sizeBytes, limitBytes: sizeBytes, ifSettingsVersion: settingsVersion };
    await fixture.volume({ lifecycle: attachedOn(nodeId, { bootId: testId(401) }), epoch: 2 }, [
      { kind: 'replica.create', replica, booking },
    ]);
    await fixture.under.takeWakeUps();
    return nodeId;
  }

  const engine = (part: Partial<Parameters<typeof anEngineReport>[0]> = {}) =>
    anEngineReport({
      volumeId: VOLUME,
      epoch: 2,
      replicas: [{ replicaId: REPLICA, mode: 'RW', reason: '' }],
      ...part,
    });

  test('the first one makes the node and its disks, and wakes the cluster', async () => {
    const nodeId = await fixture.node();
    const { nodes } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    expect(nodes).toMatchObject([
      {
        id: nodeId,
        name: 'node-1',
        zone: 'zone-a',
        allowScheduling: true,
        bootId: testId(401),
        lastHeartbeatAt: NOON,
      },
    ]);
    expect(await fixture.disk()).toMatchObject({
      nodeId,
      storageMaximumBytes: 100 * GIB,
      storageScheduledBytes: 0,
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    expect(await fixture.store.agentOf(nodeId)).toMatchObject({
      name: 'node-1',
      controlUrl: expect.any(String),
    });
    expect(await fixture.under.takeWakeUps()).toEqual([
      { kind: 'cluster', clusterId: fixture.tenant.clusterId },
    ]);
  });

  test('a disk that takes no direct I/O has a condition that says so; one that does not say keeps what is known', async () => {
    await fixture.node();
    const directIo = async () =>
      (await fixture.disk()).conditions.filter(({ type }) => type === 'DirectIo').map(({ status }) => status);
    expect(await directIo()).toEqual([]);
    await beat({ disks: [aDiskReport(DISK, { directIo: false })] });
    expect(await directIo()).toEqual(['False']);
    await beat({ disks: [aDiskReport(DISK)] });
    expect(await directIo()).toEqual(['False']);
    await beat({ disks: [aDiskReport(DISK, { directIo: true })] });
    expect(await directIo()).toEqual(['True']);
    expect((await fixture.disk()).conditions.map(({ type }) => type)).toEqual(['DirectIo', 'Ready']);
  });

  test('how fast a disk answers is kept with the time of the report, and counts no version up', async () => {
    await fixture.node();
    const { version } = await fixture.disk();
    const answers = { calls: 3, p50Ms: 1, p99Ms: 20, maxMs: 30, oldestMs: 0 };
    await beat({ disks: [aDiskReport(DISK, { answers })] });
    expect((await fixture.disk()).version).toBe(version);
  });

  test('a disk that appears beneath the mount point of a missing one is not ready until that one is taken off', async () => {
    await fixture.node();
    const path = '/mnt/a';
    const found = asId<DiskId>(testId(3002));
    await beat({ disks: [aDiskReport(DISK, { path, onRootFileSystem: false })] });
    await beat({ disks: [aDiskReport(found, { path, onRootFileSystem: true })] });
    const { disks } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const readiness = (id: string) =>
      disks.find((disk) => disk.id === id)?.conditions.find(({ type }) => type === 'Ready');
    expect(readiness(DISK)).toMatchObject({ status: 'False', reason: 'DiskNotReported' });
    expect(readiness(found)).toMatchObject({ status: 'False', reason: 'DiskNotMounted' });
  });

  test('it is the same node the next time, and free space is a fact that counts no version up', async () => {
    const nodeId = await fixture.node();
    const before = await fixture.disk();
    const again = await beat({ disks: [aDiskReport(DISK, { availableBytes: 60 * GIB })] });
    expect(again.nodeId).toBe(nodeId);
    expect(await fixture.disk()).toMatchObject({
      storageAvailableBytes: 60 * GIB,
      version: before.version,
    });
  });

  test('a disk that becomes full, or has room again, wakes the volumes with copies on it', async () => {
    await attachedVolume();
    const wakes = async (reason: string) => {
      await beat({ disks: [aDiskReport(DISK, { reason, message: reason })] });
      return (await fixture.under.takeWakeUps()).filter(({ kind }) => kind === 'volume');
    };
    expect(await wakes('DiskFull')).toEqual([{ kind: 'volume', volumeId: VOLUME }]);
    expect(await wakes('DiskFull')).toEqual([]);
    expect(await wakes('')).toEqual([{ kind: 'volume', volumeId: VOLUME }]);
  });

  test("people's zone stays until the agent's label changes", async () => {
    const nodeId = await fixture.node();
    const zone = async () => (await fixture.store.loadFleet(fixture.tenant.clusterId)).nodes[0]?.zone;
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { zone: 'by-hand' } }]);
    await beat();
    expect(await zone()).toBe('by-hand');
    await beat({ node: { zone: 'zone-b' } });
    expect(await zone()).toBe('zone-b');
  });

  test('a disk that another node reports stays where it is', async () => {
    const nodeId = await fixture.node();
    const heartbeat = aHeartbeat('node-2', { disks: [aDiskReport(DISK, { availableBytes: 1 })] });
    await fixture.store.recordHeartbeat(fixture.tenant.clusterId, heartbeat, LATER);
    expect(await fixture.disk()).toMatchObject({ nodeId, storageAvailableBytes: 100 * GIB });
  });

  test('a disk whose node is gone follows to the node that reports it, with its replicas', async () => {
    const from = await fixture.node();
    const { clusterId } = fixture.tenant;
    const replicaOf = (number: number, mode: 'RW' | undefined) => {
      const volumeId = asId<VolumeId>(testId(number));
      const replica = aReplica({
        id: asId(testId(100 + number)),
        volumeId,
        nodeId: from,
        diskId: DISK,
        mode,
      });
      return { volumeId, create: { kind: 'replica.create', replica, booking: undefined } as const };
    };
    const { volumeId, create } = replicaOf(1, undefined);
    await fixture.volume(anIdleVolume(fixture.tenant, { id: volumeId }), [create]);
    const isSilent = {
      type: 'Ready',
      status: 'False',
      reason: '',
      message: '',
      lastTransitionAt: NOON,
    } as const;
    const node = async () => (await fixture.store.loadFleet(clusterId)).nodes.find(({ id }) => id === from);
    await fixture.store.commit({ kind: 'node', nodeId: from, ifVersion: (await node())?.version ?? 0 }, [
      { kind: 'node.patch', nodeId: from, patch: { conditions: [isSilent] } },
    ]);
    await fixture.under.takeWakeUps();

    const { id: replicaId, secret } = create.replica;
    const copy = { replicaId, volumeId, diskId: DISK, writtenBytes: 0, record: null };
    const report = (part: Parameters<typeof aDiskReport>[1], proof?: string) =>
      fixture.store.recordHeartbeat(
        clusterId,
        aHeartbeat('node-2', { disks: [aDiskReport(DISK, part)], replicas: [{ ...copy, proof }] }),
        LATER,
      );
    const { nodeId: to } = await report({ ready: false });
    expect(await fixture.disk()).toMatchObject({ nodeId: from });
    await report({}, fixture.under.proofOf(secret, to));
    expect(await fixture.disk()).toMatchObject({ nodeId: to });
    expect((await fixture.load(volumeId)).replicas[0]).toMatchObject({ nodeId: to, diskId: DISK });
    expect(await fixture.under.takeWakeUps()).toContainEqual({ kind: 'volume', volumeId });

    // An engine that uses a copy there still reaches the old place.
    const used = replicaOf(2, 'RW');
    await fixture.volume(anIdleVolume(fixture.tenant, { id: used.volumeId, name: 'used' }), [
      { ...used.create, replica: { ...used.create.replica, nodeId: to } },
    ]);
    const fleet = await fixture.store.loadFleet(clusterId);
    const ifVersion = fleet.nodes.find(({ id }) => id === to)?.version ?? 0;
    await fixture.store.commit({ kind: 'node', nodeId: to, ifVersion }, [
      { kind: 'node.patch', nodeId: to, patch: { conditions: [isSilent] } },
    ]);
    await fixture.store.recordHeartbeat(
      clusterId,
      aHeartbeat('node-3', { disks: [aDiskReport(DISK)] }),
      LATER,
    );
    expect(await fixture.disk()).toMatchObject({ nodeId: to });
  });

  test('an engine wakes its volume when it says something new, and only then', async () => {
    await attachedVolume();
    const wakes = async (part: Parameters<typeof engine>[0] = {}) => {
      await beat({ engines: [engine(part)] });
      return (await fixture.under.takeWakeUps()).filter(({ kind }) => kind === 'volume').length;
    };
    expect(await wakes()).toBe(1);
    expect(await wakes()).toBe(0);
    expect(await wakes({ writtenBytes: MIB })).toBe(0);
    const fill = { fillId: VOLUME, state: 'running' as const, bytes: 0, error: '' };
    expect(await wakes({ fill })).toBe(1);
    expect(await wakes({ fill: { ...fill, bytes: 4096 } })).toBe(0);
    expect(await wakes({ fill: { ...fill, state: 'succeeded' } })).toBe(1);
    expect(await wakes({ state: 'waiting-record' })).toBe(1);
    expect(await wakes({ replicas: [{ replicaId: REPLICA, mode: 'ERR', reason: 'silent' }] })).toBe(1);
    await beat({ engines: [] });
    expect(await fixture.under.takeWakeUps()).toContainEqual({ kind: 'volume', volumeId: VOLUME });
    expect((await fixture.load(VOLUME)).engine).toBeUndefined();
  });

  test('the view shows the engine; written bytes reach the volume, and modes are left to the plan', async () => {
    const nodeId = await attachedVolume();
    await beat({ engines: [engine({ writtenBytes: 3 * MIB })] });
    const view = await fixture.load(VOLUME);
    expect(view.engine).toMatchObject({ nodeId, bootId: testId(401), at: LATER, report: { epoch: 2 } });
    expect(view.volume).toMatchObject({ writtenBytes: 3 * MIB, version: 1 });
    expect(view.engine?.report.replicas).toEqual([{ replicaId: REPLICA, mode: 'RW', reason: '' }]);
    expect(view.replicas[0]).toMatchObject({ mode: undefined, version: 1 });
  });

  test('an engine of another epoch, or of a node that does not hold the volume, says nothing of it', async () => {
    await attachedVolume();
    await beat({ engines: [engine({ epoch: 1, writtenBytes: MIB })] });
    const elsewhere = aHeartbeat('node-2', { engines: [engine({ writtenBytes: MIB })] });
    await fixture.store.recordHeartbeat(fixture.tenant.clusterId, elsewhere, LATER);
    const view = await fixture.load(VOLUME);
    expect(view.engine).toBeUndefined();
    expect(view.volume.writtenBytes).toBe(0);
  });

  test('an engine of the same epoch that was started under another grant says nothing of it', async () => {
    await attachedVolume();
    const { version } = (await fixture.load(VOLUME)).volume;
    await fixture.patch(VOLUME, version, { grantId: testId(701) });
    const said = async (grantId?: string) => {
      await beat({ engines: [engine({ grantId, writtenBytes: grantId === testId(702) ? MIB : 2 * MIB })] });
      return fixture.load(VOLUME);
    };
    const other = await said(testId(702));
    expect(other.engine).toBeUndefined();
    expect(other.volume.writtenBytes).toBe(0);
    expect((await said(testId(701))).volume.writtenBytes).toBe(2 * MIB);
    // An agent of an older version.
    expect((await said()).engine).toBeDefined();
  });

  test('a new boot of the agent wakes the volumes of its node, and its old engines are gone', async () => {
    await attachedVolume();
    await beat({ engines: [engine()] });
    await fixture.under.takeWakeUps();
    await beat({ node: { bootId: testId(402) } });
    expect(await fixture.under.takeWakeUps()).toEqual(
      expect.arrayContaining([
        { kind: 'volume', volumeId: VOLUME },
        { kind: 'cluster', clusterId: fixture.tenant.clusterId },
      ]),
    );
    expect((await fixture.load(VOLUME)).engine).toBeUndefined();
  });

  test('a new boot takes the address back of what the node served; the next heartbeat leaves it alone', async () => {
    const nodeId = await attachedVolume();
    await beat({ node: { bootId: testId(402) } });
    const { volume } = await fixture.load(VOLUME);
    expect(volume.lifecycle).toEqual(attachingOn(nodeId, { bootId: testId(401) }));
    await beat({ node: { bootId: testId(402) } });
    expect((await fixture.load(VOLUME)).volume.version).toBe(volume.version);
  });

  test('a node that is heard for the first time gets the id that it has joined under, and keeps it', async () => {
    const [joined, other] = [asId<NodeId>(testId(301)), asId<NodeId>(testId(302))];
    const heard = (id: NodeId) =>
      fixture.store.recordHeartbeat(fixture.tenant.clusterId, aHeartbeat('node-1'), NOON, id);
    expect(await heard(joined)).toMatchObject({ nodeId: joined });
    expect(await heard(other)).toMatchObject({ nodeId: joined });
  });

  test('an agent of a newer version is refused before anything of it is stored, and told of once', async () => {
    const protocol = AGENT_PROTOCOL_VERSION + 1;
    expect(await outcome(beat({ node: { protocol } }))).toBe('node.agent_newer');
    expect((await fixture.store.loadFleet(fixture.tenant.clusterId)).nodes).toEqual([]);
    await fixture.node();
    const newer = { node: { protocol, bootId: testId(402), zone: 'zone-z' } };
    for (const seconds of [6, 8])
      expect(await outcome(beat(newer, secondsAfterNoon(seconds)))).toBe('node.agent_newer');
    const { nodes } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    expect(nodes).toMatchObject([{ bootId: testId(401), zone: 'zone-a' }]);
    const told = (await fixture.under.events()).map(({ type }) => type);
    expect(told.filter((type) => type === 'AgentRefused')).toHaveLength(1);
  });

  describe('a second agent under the name of one that answers', () => {
    const second = {
      bootId: testId(402),
      controlUrl: 'http://10.0.0.2:7410',
      controlSecret: 'another-secret-of-16',
    };

    test('is refused, and told of once; the first stays as it is', async () => {
      const nodeId = await attachedVolume();
      await beat({ engines: [engine()] });
      for (const seconds of [6, 8]) {
        const refused = outcome(beat({ node: second, engines: [] }, secondsAfterNoon(seconds)));
        expect(await refused).toBe('node.name_taken');
      }
      const { nodes } = await fixture.store.loadFleet(fixture.tenant.clusterId);
      expect(nodes).toMatchObject([{ bootId: testId(401), lastHeartbeatAt: LATER }]);
      expect((await fixture.store.agentOf(nodeId))?.controlUrl).toContain('127.0.0.1');
      expect((await fixture.load(VOLUME)).engine).toBeDefined();
      const told = (await fixture.under.events()).map(({ type }) => type);
      expect(told.filter((type) => type === 'AgentRefused')).toHaveLength(1);
    });

    test('is believed once the first has been silent; the first is then refused for good', async () => {
      const nodeId = await fixture.node();
      expect(await outcome(beat({ node: second }, secondsAfterNoon(10)))).toBe('node.name_taken');
      expect(await beat({ node: second }, secondsAfterNoon(11))).toMatchObject({ nodeId });
      expect(await outcome(beat({}, secondsAfterNoon(12)))).toBe('node.name_taken');
      expect(await outcome(beat({}, secondsAfterNoon(60)))).toBe('node.name_taken');
      const { nodes } = await fixture.store.loadFleet(fixture.tenant.clusterId);
      expect(nodes).toMatchObject([{ bootId: testId(402), controlUrl: second.controlUrl }]);
    });

    test('a restart at its own address is believed at once, and the life before never again', async () => {
      await fixture.node();
      await beat({ node: { bootId: testId(403) } }, secondsAfterNoon(1));
      expect(await outcome(beat({}, secondsAfterNoon(2)))).toBe('node.name_taken');
    });
  });

  test('what replicas have written is summed up on their disk', async () => {
    await attachedVolume();
    const written = (bytes: number) => [
      { replicaId: REPLICA, volumeId: VOLUME, diskId: DISK, writtenBytes: bytes, record: null },
      // Of a replica that has no row any more: its bytes are no longer booked here.
      {
        replicaId: asId<ReplicaId>(testId(999)),
        volumeId: VOLUME,
        diskId: DISK,
        writtenBytes: GIB,
        record: null,
      },
    ];
    await beat({ replicas: written(5 * MIB) });
    expect((await fixture.disk()).writtenBytes).toBe(5 * MIB);
    expect((await fixture.load(VOLUME)).replicas[0]?.writtenBytes).toBe(5 * MIB);
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'replica.delete', replicaId: REPLICA }]);
    expect((await fixture.disk()).writtenBytes).toBe(0);
  });

  test('a copy that a report lacks is noted, on a disk that the report lists in full, until it is reported again', async () => {
    await attachedVolume();
    await fixture.store.commit({ kind: 'new' }, [
      { kind: 'replica.patch', replicaId: REPLICA, patch: { provisioned: true } },
    ]);
    const own = { replicaId: REPLICA, volumeId: VOLUME, diskId: DISK, writtenBytes: 0, record: null };
    const listed = [aDiskReport(DISK, { copiesListed: true })];
    const since = async (part: Parameters<typeof beat>[0], at: number) => {
      await beat(part, secondsAfterNoon(at));
      return (await fixture.load(VOLUME)).replicas[0]?.unreportedSince;
    };
    expect(await since({ replicas: [], disks: [aDiskReport(DISK)] }, 1)).toBeUndefined();
    const notReady = [aDiskReport(DISK, { copiesListed: true, ready: false, reason: 'DiskMissing' })];
    expect(await since({ replicas: [], disks: notReady }, 2)).toBeUndefined();
    expect(await since({ replicas: [own], disks: listed }, 3)).toBeUndefined();
    expect(await since({ replicas: [], disks: listed }, 4)).toEqual(secondsAfterNoon(4));
    expect(await since({ replicas: [], disks: listed }, 5)).toEqual(secondsAfterNoon(4));
    // Nothing follows from a disk that is not looked through.
    expect(await since({ replicas: [], disks: [aDiskReport(DISK)] }, 6)).toEqual(secondsAfterNoon(4));
    expect(await since({ replicas: [own], disks: listed }, 7)).toBeUndefined();
  });

  test("a running rebuild's progress is stored without a wake-up, and its percentage never falls", async () => {
    await attachedVolume();
    const { clusterId } = fixture.tenant;
    const rebuild = aRebuild({ clusterId, volumeId: VOLUME, state: 'running', phase: 'copying', epoch: 2 });
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'rebuild.create', rebuild }]);
    const report = (compared: number, phase: 'copying' | 'verifying' = 'copying') =>
      beat({
        engines: [
          engine({
            rebuilds: [
              {
                rebuildId: rebuild.id,
                replicaId: REPLICA,
                state: 'running',
                phase,
                bytes: { ...NO_BYTES, total: 100 * MIB, compared, sent: compared, written: compared },
                rateBytesPerSecond: 10 * MIB,
                snapshots: [{ name: 's1', method: 'full', reason: 'absent', bytesSent: compared }],
                error: null,
              },
            ],
          }),
        ],
      });
    const shown = async () => (await fixture.load(VOLUME)).rebuilds[0];
    await report(50 * MIB);
    const half = await shown();
    expect(half).toMatchObject({
      state: 'running',
      phase: 'copying',
      bytes: { compared: 50 * MIB },
      rateBytesPerSecond: 10 * MIB,
      snapshots: [{ name: 's1', method: 'full' }],
    });
    await fixture.under.takeWakeUps();
    await report(20 * MIB);
    expect((await shown())?.percent).toBe(half?.percent);
    expect(await fixture.under.takeWakeUps()).not.toContainEqual({ kind: 'volume', volumeId: VOLUME });
    await report(100 * MIB, 'verifying');
    expect((await shown())?.percent).toBeGreaterThan(half?.percent ?? 100);
    expect(await fixture.under.takeWakeUps()).toContainEqual({ kind: 'volume', volumeId: VOLUME });
  });

  test('two at once for new disks leave one of each', async () => {
    const other = asId<DiskId>(testId(502));
    const disks = [aDiskReport(DISK), aDiskReport(other)];
    await Promise.all([beat({ disks }), beat({ disks: [...disks].reverse() })]);
    const fleet = await fixture.store.loadFleet(fixture.tenant.clusterId);
    expect(fleet.nodes).toHaveLength(1);
    expect(fleet.disks.map(({ id }) => id)).toEqual([DISK, other]);
  });
}
