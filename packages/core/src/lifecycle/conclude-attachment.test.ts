import type { EngineReport } from '@holdfast/core/model/agent-protocol.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { SurveyedCopy } from '@holdfast/core/model/salvage.js';
import { AN_OWNER, aRebuild, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import {
  aGrant,
  attachedOn,
  attachingOn,
  detachingFrom,
  ON_ANY_NODE,
} from '@holdfast/testkit/lifecycle-builder.js';
import { aGrantedView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Change } from '../model/changes.js';
import type { VolumeView } from '../model/views.js';
import { nodeById } from '../model/volume-facts.js';
import { DETACHED, type VolumeLifecycle } from '../model/volume-lifecycle.js';
import { COPIES_MISSING } from '../policy/decide-salvage.js';
import {
  attachmentGranted,
  copiesAwaited,
  engineStarted,
  engineStopped,
  startAwaitsNode,
  startRefused,
} from './conclude-attachment.js';
import { WAITING_FOR_COPIES } from './decide-start.js';

const NODE = asId<NodeId>('a');
const IDENTITY = { grantId: 'a-grant', secret: 'a-secret' };
const copyOn = (node: string) => asId<ReplicaId>(`on-${node}-disk`);

const bootOf = ({ fleet }: VolumeView) => nodeById(fleet, NODE)?.bootId;
const volumePatch = (changes: readonly Change[]) =>
  changes.find((change) => change.kind === 'volume.patch')?.patch;
const replicaPatch = (changes: readonly Change[], replicaId: ReplicaId) =>
  changes.flatMap((change) =>
    change.kind === 'replica.patch' && change.replicaId === replicaId ? [change.patch] : [],
  )[0];
const eventTypes = (changes: readonly Change[]) =>
  changes.flatMap((change) => (change.kind === 'event' ? [change.event.type] : []));

describe('a grant', () => {
  test('raises the epoch, names the node and forgets what an earlier engine reported of the copies', () => {
    const replicas = [
      aReplicaOn('a-disk', { mode: 'RW' }),
      aReplicaOn('b-disk', { mode: 'ERR', failedAt: NOON }),
    ];
    const lifecycle = { state: 'attaching', request: ON_ANY_NODE, grant: undefined } as const;
    const view = aGrantedView({ volume: { epoch: 6, lifecycle }, replicas });
    const changes = attachmentGranted(view, { nodeId: NODE, why: 'it was asked for' }, IDENTITY, NOON);
    expect(volumePatch(changes)).toMatchObject({
      lifecycle: attachingOn(NODE, { bootId: bootOf(view), secret: IDENTITY.secret }),
      grantId: IDENTITY.grantId,
      epoch: 7,
    });
    expect(replicaPatch(changes, copyOn('a'))).toEqual({ mode: undefined });
    expect(replicaPatch(changes, copyOn('b'))).toBeUndefined();
    expect(eventTypes(changes)).toEqual(['VolumeAttaching']);
  });
});

describe('a start on a node', () => {
  const awaited = (silentSeconds: number, volume: Partial<VolumeView['volume']> = {}) => {
    const lastHeartbeatAt = secondsAfterNoon(-silentSeconds);
    const view = aGrantedView({ volume: { lifecycle: attachingOn(NODE), ...volume } });
    const nodes = view.fleet.nodes.map((node) => ({ ...node, lastHeartbeatAt }));
    const listening = { now: NOON, since: secondsAfterNoon(-600) };
    return volumePatch(startAwaitsNode({ ...view, fleet: { ...view.fleet, nodes, listening } }, NODE, NOON));
  };
  const known = { code: 'EngineStartFailed', message: 'why', cures: [], since: NOON };

  test.each([
    { name: 'that is heard says nothing', silentSeconds: 2, volume: {}, says: undefined },
    {
      name: 'that has missed a heartbeat names the node',
      silentSeconds: 3,
      volume: {},
      says: 'node a has not answered since',
    },
    {
      name: 'that a start has found silent is told already',
      silentSeconds: 3,
      volume: { attention: known },
      says: undefined,
    },
  ])('$name', ({ silentSeconds, volume, says }) => {
    const message = awaited(silentSeconds, volume)?.attention?.message;
    if (says === undefined) expect(message).toBeUndefined();
    else expect(message).toContain(says);
  });
});

describe('a start that was answered', () => {
  const endpoint = { host: 'a.test', port: 10809, exportName: 'pg-data' };
  const report = (...modes: [string, 'RW' | 'WO' | 'ERR'][]): EngineReport => ({
    volumeId: asId('a-volume'),
    epoch: 1,
    state: 'running',
    reason: '',
    record: { epoch: 1, dataGeneration: 1, members: [copyOn('a')] },
    replicas: modes.map(([node, mode]) => ({ replicaId: copyOn(node), mode, reason: '' })),
    writtenBytes: 0,
    rebuilds: [],
  });
  const answered = (view = aGrantedView()) =>
    engineStarted(view, NODE, { endpoint, report: report(['a', 'RW']) }, NOON);

  test('makes the volume attached, with the record that the engine has written', () => {
    expect(volumePatch(answered())).toMatchObject({
      lifecycle: { ...attachedOn(NODE), endpoint },
      record: copyRecord(1, 1, [copyOn('a')]),
    });
  });

  test('a copy that it started on is healthy again, whatever was recorded of it', () => {
    const failure = { reason: 'NodeDown', message: '' };
    const replicas = [aReplicaOn('a-disk', { failedAt: NOON, failure, healthyAt: undefined })];
    expect(replicaPatch(answered(aGrantedView({ replicas })), copyOn('a'))).toMatchObject({
      mode: 'RW',
      healthyAt: NOON,
      failedAt: undefined,
      failure: undefined,
    });
  });

  test.each([
    {
      case: 'on a ready node is not current',
      ready: true,
      healthyAt: NOON,
      expected: { reason: 'NotCurrent' },
    },
    {
      case: 'on a node that is down has failed with it',
      ready: false,
      healthyAt: NOON,
      expected: { reason: 'NodeDown' },
    },
    { case: 'that was never full stays as it was', ready: true, healthyAt: undefined, expected: undefined },
  ])('a copy that it left out $case', ({ ready, healthyAt, expected }) => {
    const view = aGrantedView({
      replicas: [aReplicaOn('a-disk'), aReplicaOn('b-disk', { healthyAt, failedAt: undefined })],
      fleet: aFleet({ a: {}, b: { ready } }),
    });
    const patch = replicaPatch(answered(view), copyOn('b'));
    if (expected === undefined) expect(patch).toBeUndefined();
    else expect(patch).toMatchObject({ mode: 'ERR', failedAt: NOON, failure: expected });
  });
});

describe('a start that was refused', () => {
  const stale = (newest: number) =>
    new StorageFault('engine.stale_epoch', { publicMessage: 'the copy knows more', context: { newest } });
  const refused = (error: StorageFault, view = aGrantedView({ volume: { epoch: 4 } })) =>
    startRefused(view, NODE, { error, identity: IDENTITY }, NOON);

  test.each([
    { newest: 4, epoch: 5 },
    { newest: 90, epoch: 91 },
  ])('because the copies know epoch $newest goes on at $epoch under a new grant', ({ newest, epoch }) => {
    const { isCured, changes } = refused(stale(newest));
    expect(isCured).toBe(true);
    expect(volumePatch(changes)).toEqual({
      epoch,
      grantId: IDENTITY.grantId,
      lifecycle: attachingOn(NODE, { secret: IDENTITY.secret }),
    });
    expect(eventTypes(changes)).toEqual(['EpochRaised']);
  });

  test.each([
    { case: 'an epoch below the granted one', newest: 3 },
    { case: 'an epoch that no volume can have reached', newest: 2 ** 48 },
  ])('with $case raises nothing', ({ newest }) => {
    const { isCured, changes } = refused(stale(newest));
    expect(isCured).toBe(false);
    expect(volumePatch(changes)).toMatchObject({ attention: { code: 'EngineStartFailed' } });
  });

  test('shows which node refused, why, and since when', () => {
    const error = new StorageFault('agent.unreachable', { publicMessage: 'no answer' });
    const { changes } = refused(error);
    expect(volumePatch(changes)).toMatchObject({
      attention: { message: 'the engine does not start on node a: no answer', since: NOON },
    });
  });

  test('for the same reason as before is not stored again', () => {
    const error = new StorageFault('agent.unreachable', { publicMessage: 'no answer' });
    const shown = volumePatch(refused(error).changes)?.attention;
    const view = aGrantedView({ volume: { epoch: 4, attention: shown } });
    expect(startRefused(view, NODE, { error, identity: IDENTITY }, secondsAfterNoon(5)).changes).toEqual([]);
  });
});

describe('a start that lacks copies', () => {
  const copy = (node: string): SurveyedCopy => ({
    replicaId: copyOn(node),
    record: copyRecord(1, 1, [copyOn('a'), copyOn('b')]),
    isClean: true,
    writtenBytes: 4096,
  });
  const attention = (code: string) => ({ code, message: 'copies are missing', cures: [], since: NOON });

  test('records what was found, so that users can choose copies to go on with', () => {
    const missing = { copies: [copy('a')], attention: attention(COPIES_MISSING) };
    const patch = volumePatch(copiesAwaited(aGrantedView(), missing, NOON));
    expect(patch).toMatchObject({
      attention: missing.attention,
      lifecycle: { survey: { copies: [copy('a')] } },
    });
  });

  test('records nothing of the copies while they may be about to answer', () => {
    const missing = { copies: [copy('a')], attention: attention(WAITING_FOR_COPIES) };
    expect(volumePatch(copiesAwaited(aGrantedView(), missing, NOON))).toMatchObject({
      lifecycle: { survey: undefined },
    });
  });

  test('stores the same survey once, and another one again', () => {
    const missing = { copies: [copy('a')], attention: attention(COPIES_MISSING) };
    const patch = volumePatch(copiesAwaited(aGrantedView(), missing, NOON));
    const view = aGrantedView({ volume: { ...patch } });
    expect(copiesAwaited(view, missing, secondsAfterNoon(5))).toEqual([]);
    const more = { ...missing, copies: [copy('a'), copy('b')] };
    expect(copiesAwaited(view, more, secondsAfterNoon(5))).not.toEqual([]);
  });
});

describe('an engine that has stopped', () => {
  const grant = aGrant(NODE);
  test.each<{ case: string; before: VolumeLifecycle; after: VolumeLifecycle }>([
    { case: 'nothing more is wanted', before: detachingFrom(NODE), after: DETACHED },
    {
      case: 'the volume is to be deleted',
      before: { state: 'deleting', requestedAt: NOON, grant },
      after: { state: 'deleting', requestedAt: NOON, grant: undefined },
    },
    {
      case: 'it is to be attached again',
      before: detachingFrom(NODE, { request: ON_ANY_NODE }),
      after: { state: 'attaching', request: ON_ANY_NODE, grant: undefined },
    },
  ])('leaves the volume $after.state when $case', ({ before, after }) => {
    const changes = engineStopped(aGrantedView({ volume: { lifecycle: before } }), NODE, NOON);
    expect(volumePatch(changes)?.lifecycle).toEqual(after);
    expect(eventTypes(changes)).toContain('VolumeDetached');
  });

  test.each([
    {
      how: 'is called off by a detach',
      lifecycle: detachingFrom('a'),
      event: 'RebuildCancelled',
      state: 'cancelled',
    },
    {
      how: 'is called off by another attachment',
      lifecycle: detachingFrom('a', { request: ON_ANY_NODE }),
      event: 'RebuildCancelled',
      state: 'cancelled',
    },
    {
      how: 'fails with a node that does not answer',
      lifecycle: detachingFrom('a', { isForced: true }),
      event: 'RebuildFailed',
      state: 'failed',
    },
  ])('its rebuild $how, and no try is counted against the target', ({ lifecycle, event, state }) => {
    const view = aGrantedView({ volume: { lifecycle } });
    const rebuild = aRebuild({
      clusterId: AN_OWNER.clusterId,
      volumeId: view.volume.id,
      state: 'running',
      targetReplicaId: copyOn('c'),
    });
    const changes = engineStopped({ ...view, rebuilds: [rebuild] }, NODE, NOON);
    expect(eventTypes(changes)).toContain(event);
    expect(changes).toContainEqual(
      expect.objectContaining({ kind: 'rebuild.patch', patch: expect.objectContaining({ state }) }),
    );
    expect(replicaPatch(changes, copyOn('c'))).toMatchObject({ failedAt: NOON, rebuildRetryCount: 0 });
  });
});
