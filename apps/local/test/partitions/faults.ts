/** Faults of a run. Their kinds, order and duration are chosen by the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { AGENTS, type PartitionCluster } from './cluster.js';
import type { Party } from './network.js';

/** Ends a fault. An agent that died is started again. */
type Undo = () => void;
type Fault = {
  name: string;
  /** Nodes that a user would not choose while the fault lasts. */
  agents: readonly number[];
  begin: (cluster: PartitionCluster) => Undo;
};

const others = (agent: number): Party[] => [
  'control',
  ...Array.from({ length: AGENTS }, (_, other) => other).filter((other) => other !== agent),
];

/** A fault that cuts these directions at once. */
function cutting(name: string, links: readonly (readonly [Party, Party])[], only?: readonly number[]): Fault {
  const begin: Fault['begin'] = ({ network }) => {
    for (const [from, to] of links) network.cut(from, to);
    return () => {
      for (const [from, to] of links) network.heal(from, to);
    };
  };
  const agents = only ?? links.flat().filter((party) => party !== 'control');
  return { name, agents, begin };
}

/** A fault that loses bursts of packets between two parties: for 30 ms of each 150 ms nothing passes. */
function flaky(a: Party, b: Party): Fault {
  const begin: Fault['begin'] = ({ network }) => {
    const timer = setInterval(() => {
      network.cut(a, b);
      network.cut(b, a);
      setTimeout(() => {
        network.heal(a, b);
        network.heal(b, a);
      }, 30);
    }, 150);
    return () => {
      clearInterval(timer);
      setTimeout(() => {
        network.heal(a, b);
        network.heal(b, a);
      }, 60);
    };
  };
  const agents = [a, b].filter((party) => party !== 'control');
  return { name: `packets between ${a} and ${b} are lost`, agents, begin };
}

const nothing: Undo = () => undefined;

function chooseFault(random: SeededRandom, holder: number | undefined): Fault {
  const any = random.below(AGENTS);
  // Half of the faults hit the node that serves the volume, because that matters most.
  const agent = random.below(2) === 0 ? (holder ?? any) : any;
  const other = (agent + 1 + random.below(AGENTS - 1)) % AGENTS;
  const kinds: (() => Fault)[] = [
    () =>
      cutting(`no link between ${agent} and ${other}`, [
        [agent, other],
        [other, agent],
      ]),
    () => cutting(`no packets from ${agent} to ${other}`, [[agent, other]]),
    () =>
      cutting(`no link between ${agent} and control`, [
        [agent, 'control'],
        ['control', agent],
      ]),
    () => cutting(`no packets from ${agent} to control`, [[agent, 'control']]),
    () => cutting(`no packets from control to ${agent}`, [['control', agent]]),
    () =>
      cutting(
        `${agent} is cut off`,
        others(agent).flatMap((one): [Party, Party][] => [
          [agent, one],
          [one, agent],
        ]),
        [agent],
      ),
    () => flaky(agent, other),
    () => flaky(agent, 'control'),
    () => ({
      name: `what goes to ${agent} is slow`,
      agents: [agent],
      begin: ({ network }) => {
        network.slow(agent, 2_000);
        return () => network.quicken(agent);
      },
    }),
    () => ({
      name: `agent ${agent} stands still`,
      agents: [agent],
      begin: (cluster) => {
        cluster.signal(agent, 'SIGSTOP');
        return () => cluster.signal(agent, 'SIGCONT');
      },
    }),
    () => ({
      name: `agent ${agent} dies`,
      agents: [agent],
      begin: (cluster) => {
        cluster.signal(agent, 'SIGKILL');
        return () => cluster.startAgent(agent);
      },
    }),
    () => ({
      name: `the disk of ${agent} is full`,
      agents: [agent],
      begin: (cluster) => {
        cluster.fillDisk(agent);
        return () => cluster.freeDisk(agent);
      },
    }),
    () => ({ name: 'Postgres dies', agents: [], begin: (cluster) => done(() => cluster.killPostgres()) }),
    () => ({ name: 'the API dies', agents: [], begin: (cluster) => done(() => cluster.killService('api')) }),
    () => ({
      name: 'the worker dies',
      agents: [],
      begin: (cluster) => done(() => cluster.killService('worker')),
    }),
    () => ({ name: 'Redis is flushed', agents: [], begin: (cluster) => done(() => cluster.flushRedis()) }),
  ];
  const kind = kinds[random.below(kinds.length)];
  if (kind === undefined) throw new Error('there is no such fault');
  return kind();
}

function done(act: () => void): Undo {
  act();
  return nothing;
}

/** Makes one fault after the other, now and then two at once, until the time is up. */
export async function sowFaults(
  cluster: PartitionCluster,
  random: SeededRandom,
  options: {
    untilMs: number;
    suspects: Set<number>;
    holder: () => Promise<number | undefined>;
    say: (line: string) => void;
  },
): Promise<void> {
  while (performance.now() < options.untilMs) {
    const holder = await options.holder();
    const count = random.below(10) < 3 ? 2 : 1;
    const faults = Array.from({ length: count }, () => chooseFault(random, holder));
    const lastsMs = 2_000 + random.below(16_000);
    const calmMs = 1_000 + random.below(6_000);
    options.say(`${faults.map(({ name }) => name).join(' and ')}, for ${lastsMs} ms`);
    for (const agent of faults.flatMap(({ agents }) => agents)) options.suspects.add(agent);
    const undo = faults.map(({ begin }) => begin(cluster));
    await sleep(lastsMs);
    for (const one of undo) one();
    options.suspects.clear();
    await sleep(calmMs);
  }
}
