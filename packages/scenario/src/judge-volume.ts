/** Judging of an expectation about a volume. */
import type { VolumeExpectation } from './expectations.js';
import type { Facts, VolumeFacts } from './facts.js';
import type { History, VolumeHistory } from './history.js';
import { conditionFindings, counts, countsPer, differs, rebuildFindings, sameList } from './judge-parts.js';

export function judgeVolume(wanted: VolumeExpectation, facts: Facts, history: History): string[] {
  const { volume: name } = wanted;
  const volume = facts.volumes.find((one) => one.name === name);
  if (wanted.exists === false) return volume === undefined ? [] : [`volume ${name} exists`];
  const seen = history.of(name);
  if (volume === undefined || seen === undefined) return [`there is no volume ${name}`];
  return [
    ...stateFindings(wanted, volume),
    ...conditionFindings(wanted.conditions, volume.conditions),
    ...copyFindings(wanted, volume),
    ...identityFindings(wanted, volume, seen),
    ...snapshotFindings(wanted, volume),
    ...(wanted.rebuilds === undefined ? [] : rebuildFindings(wanted.rebuilds, [...seen.rebuilds.values()])),
  ].map((finding) => `volume ${name}: ${finding}`);
}

function stateFindings(wanted: VolumeExpectation, volume: VolumeFacts): string[] {
  return [
    ...differs('state', wanted.state, volume.state),
    ...differs('robustness', wanted.robustness, volume.robustness),
    ...differs('node it is attached to', wanted.attachedTo, volume.attachedTo),
    ...differs('presence of an address', wanted.endpoint, volume.hasEndpoint),
    ...differs('size', wanted.size, volume.sizeBytes),
    ...differs('wanted number of replicas', wanted.numberOfReplicas, volume.numberOfReplicas),
    ...differs('attention', wanted.attention, volume.attention),
    ...differs('task', wanted.task, volume.task),
    ...differs('number of missing acknowledged writes', wanted.missingWrites, volume.missingWrites),
  ];
}

function copyFindings(wanted: VolumeExpectation, { replicas }: VolumeFacts): string[] {
  const { copies = {} } = wanted;
  const healthy = replicas.filter(({ isHealthy }) => isHealthy);
  const inMode = (mode: string) => replicas.filter((replica) => replica.mode === mode).length;
  const names = (of: readonly (string | null)[]) => of.flatMap((name) => name ?? []);
  const occupied = names(replicas.map(({ node }) => node)).filter((node) => wanted.nothingOn?.includes(node));
  return [
    ...counts('number of RW copies', copies.RW, inMode('RW')),
    ...counts('number of WO copies', copies.WO, inMode('WO')),
    ...counts('number of ERR copies', copies.ERR, inMode('ERR')),
    ...counts('number of full copies', copies.healthy, healthy.length),
    ...counts(
      'number of failed replicas',
      copies.failed,
      replicas.filter(({ state }) => state === 'failed').length,
    ),
    ...counts(
      'number of replicas with a place',
      copies.placed,
      replicas.filter(({ node }) => node !== null).length,
    ),
    ...counts('number of replicas', copies.total, replicas.length),
    ...sameList('list of nodes with a full copy', wanted.healthyOn, names(healthy.map(({ node }) => node))),
    ...countsPer(
      'number of full copies on',
      wanted.perNode,
      healthy.map(({ node }) => node),
    ),
    ...countsPer(
      'number of full copies in',
      wanted.perZone,
      healthy.map(({ zone }) => zone),
    ),
    ...countsPer(
      'number of full copies on',
      wanted.perDisk,
      healthy.map(({ disk }) => disk),
    ),
    ...occupied.map((node) => `node ${node} holds a replica`),
  ];
}

function identityFindings(wanted: VolumeExpectation, volume: VolumeFacts, seen: VolumeHistory): string[] {
  const ids = volume.replicas.map(({ id }) => id);
  const first = seen.first.map(({ id }) => id);
  const isSame = sameList('', first, ids).length === 0;
  const findings = [
    ...counts('number of replica objects since the start', wanted.replicasEver, seen.replicaIds.size),
    ...differs('sameness of its replicas', wanted.sameReplicas, isSame),
  ];
  const { sameReplicaOn: node } = wanted;
  if (node !== undefined) {
    const before = seen.first.filter((replica) => replica.node === node).map(({ id }) => id);
    const now = volume.replicas.filter((replica) => replica.node === node).map(({ id }) => id);
    if (now.length === 0) findings.push(`node ${node} holds no replica`);
    findings.push(...sameList(`list of replicas on ${node}`, before, now));
  }
  if (wanted.removedWasNamed !== undefined) {
    const gone = [...seen.replicaIds].filter((id) => !ids.includes(id));
    const areNamed = gone.length > 0 && gone.every((id) => seen.named.has(id));
    findings.push(...differs('naming of removed replicas beforehand', wanted.removedWasNamed, areNamed));
  }
  return findings;
}

function snapshotFindings(wanted: VolumeExpectation, { snapshots }: VolumeFacts): string[] {
  const user = snapshots.filter(({ origin, state }) => origin === 'user' && state === 'ready');
  const system = snapshots.filter(({ origin }) => origin === 'system');
  return [
    ...sameList(
      'list of user snapshots',
      wanted.userSnapshots,
      user.map(({ name }) => name),
    ),
    ...counts('number of system snapshots', wanted.systemSnapshots, system.length),
  ];
}
