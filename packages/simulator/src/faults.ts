/**
 * Fault injection between a worker and the rest: it dies before or after any effect, calls are lost before or after they
 * took effect, wake-ups vanish or are delivered twice at once.
 */
import type { AgentClient } from '@holdfast/control/ports/agent-client.js';
import type { Store } from '@holdfast/control/ports/store.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { ENGINE_COMMANDS, isEngineCommand } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { SeededRandom } from './seeded-random.js';

/** The worker's process is gone. Not a fault: nothing in control may catch it. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

export type EffectFault = 'none' | 'die-before' | 'die-after' | 'lost-before' | 'lost-after';

export type FaultPlan = {
  /** Asked once per effect (a commit, a call to an agent, a wake-up), which is named by its method or command. */
  onEffect(name: string): EffectFault;
  losesWakeUp(): boolean;
  /** Is a wake-up delivered to two workers at once? */
  runsTwice(): boolean;
};

export const NO_FAULTS: FaultPlan = {
  onEffect: () => 'none',
  losesWakeUp: () => false,
  runsTwice: () => false,
};

const EFFECT_FAULTS: readonly EffectFault[] = ['die-before', 'die-after', 'lost-before', 'lost-after'];

/** Random faults, each with its share. */
export function chanceFaults(
  random: SeededRandom,
  {
    effects = 0,
    lostWakeUps = 0,
    doubles = 0,
  }: Partial<Record<'effects' | 'lostWakeUps' | 'doubles', number | undefined>>,
): FaultPlan {
  return {
    onEffect: () => (random.chance(effects) ? (random.pick(EFFECT_FAULTS) ?? 'none') : 'none'),
    losesWakeUp: () => random.chance(lostWakeUps),
    runsTwice: () => random.chance(doubles),
  };
}

/** The ports with faults in every effect; reads are left alone, because a read that fails changes nothing. */
export function withFaults(ports: ReconcilerPorts, plan: () => FaultPlan): ReconcilerPorts {
  const effect = async <T>(name: string, lost: () => StorageFault, act: () => Promise<T>): Promise<T> => {
    const fault = plan().onEffect(name);
    if (fault === 'die-before') throw new ProcessDied();
    if (fault === 'lost-before') throw lost();
    const result = await act();
    if (fault === 'die-after') throw new ProcessDied();
    if (fault === 'lost-after') throw lost();
    return result;
  };
  const noAnswer = () => new StorageFault('agent.unreachable', { publicMessage: 'no answer' });
  const noDatabase = () => new StorageFault('store.unavailable', { publicMessage: 'no answer' });
  const { store, agents, queue } = ports;
  return {
    ...ports,
    store: disturbed<Store>(store, storeEffect, (name, act) => effect(name, noDatabase, act)),
    agents: disturbed<AgentClient>(agents, agentEffect, (name, act) => effect(name, noAnswer, act)),
    queue: { wake: (wakeUp, options) => effect('wake', noDatabase, () => queue.wake(wakeUp, options)) },
  };
}

const AGENT_CALLS: readonly string[] = [
  'createReplica',
  'deleteReplica',
  'removeOrphan',
  'openReplica',
  'checksumReplica',
  'startEngine',
  'stopEngine',
] satisfies (keyof AgentClient)[];

/** Effect of a call to an agent; an engine's command has its own name, and none if it only reads. */
function agentEffect(method: string, args: readonly unknown[]): string | undefined {
  if (method !== 'command') return AGENT_CALLS.includes(method) ? method : undefined;
  const name = String(args[2]);
  return isEngineCommand(name) && ENGINE_COMMANDS[name].effect === 'changes' ? name : undefined;
}

const STORE_CALLS: readonly string[] = ['commit', 'recordDue', 'fanOut'] satisfies (keyof Store)[];

function storeEffect(method: string): string | undefined {
  return STORE_CALLS.includes(method) ? method : undefined;
}

/** The port with faults around those calls that are effects, by the name that `effectOf` gives them. */
function disturbed<Port extends object>(
  port: Port,
  effectOf: (method: string, args: readonly unknown[]) => string | undefined,
  around: (effect: string, act: () => Promise<unknown>) => Promise<unknown>,
): Port {
  // By their names: a method is looked up with every call, and made once.
  const made = new Map<string | symbol, { of: unknown; method: (...args: unknown[]) => unknown }>();
  return new Proxy(port, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const known = made.get(name);
      if (known?.of === value) return known.method;
      const method = (...args: unknown[]) => {
        const effect = effectOf(String(name), args);
        if (effect === undefined) return value.apply(target, args);
        return around(effect, () => value.apply(target, args));
      };
      made.set(name, { of: value, method });
      return method;
    },
  });
}
