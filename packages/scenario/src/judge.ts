/** Judging of expectations over the facts of a moment, and the history since the start. */
import type {
  DiskExpectation,
  EventExpectation,
  Expectation,
  NodeExpectation,
  RebuildsExpectation,
} from './expectations.js';
import type { Facts } from './facts.js';
import type { History } from './history.js';
import { conditionFindings, counts, countsPer, differs, rebuildFindings } from './judge-parts.js';
import { judgeVolume } from './judge-volume.js';

/** Differences from the expectation, as sentences; empty when it holds. */
export function judge(wanted: Expectation, facts: Facts, history: History): string[] {
  if ('event' in wanted) return judgeEvents(wanted, history);
  if ('volume' in wanted) return judgeVolume(wanted, facts, history);
  if ('node' in wanted) return judgeNode(wanted, facts);
  if ('disk' in wanted) return judgeDisk(wanted, facts);
  return judgeRebuilds(wanted, history);
}

function judgeEvents(
  { event: type, volume, count, message = '' }: EventExpectation,
  history: History,
): string[] {
  const found = history
    .events()
    .filter((event) => event.type === type && (volume === undefined || event.volume === volume))
    .filter((event) => event.message.includes(message)).length;
  return counts(`number of events ${type} since the start`, count ?? { min: 1 }, found);
}

function judgeNode(wanted: NodeExpectation, facts: Facts): string[] {
  const { node: name } = wanted;
  const node = facts.nodes.find((one) => one.name === name);
  if (node === undefined) return [`there is no node ${name}`];
  const replicas = facts.volumes.flatMap((volume) => volume.replicas.filter((one) => one.node === name));
  return [
    ...conditionFindings(wanted.conditions, node.conditions),
    ...differs('cordoned', wanted.cordoned, node.cordoned),
    ...differs('evictionRequested', wanted.evictionRequested, node.evictionRequested),
    ...differs('being in maintenance', wanted.maintenance, node.isInMaintenance),
    ...differs('autoEvicting', wanted.autoEvicting, node.isAutoEvicting),
    ...differs('drain', wanted.drain, node.drain),
    ...counts('number of replicas', wanted.replicas, replicas.length),
  ].map((finding) => `node ${name}: ${finding}`);
}

function judgeDisk(wanted: DiskExpectation, facts: Facts): string[] {
  const { disk: name } = wanted;
  const disk = facts.disks.find((one) => one.name === name);
  if (disk === undefined) return [`there is no disk ${name}`];
  const replicas = facts.volumes.flatMap((volume) => volume.replicas.filter((one) => one.disk === name));
  return [
    ...conditionFindings(wanted.conditions, disk.conditions),
    ...counts('number of replicas', wanted.replicas, replicas.length),
  ].map((finding) => `disk ${name}: ${finding}`);
}

function judgeRebuilds({ rebuilds: wanted }: RebuildsExpectation, history: History): string[] {
  const all = history.rebuilds();
  const running = all.filter(({ state }) => state === 'running');
  return [
    ...rebuildFindings(wanted, all),
    ...countsPer(
      'number of running rebuilds to',
      wanted.perTargetNode,
      running.map(({ targetNode }) => targetNode),
    ),
    ...countsPer(
      'number of running rebuilds from',
      wanted.perSourceNode,
      running.flatMap(({ sourceNodes }) => sourceNodes),
    ),
  ];
}
