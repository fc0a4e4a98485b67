/** Set-up of suites about parts of a node that hang: agents, processes that are stopped and go on after each test. */
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { AgentCluster, type AgentProcess } from './agents.js';

export class HangingParts {
  readonly cluster = new AgentCluster();
  /** Processes that the test has stopped. */
  readonly stopped: number[] = [];

  stop(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    this.stopped.push(pid);
  }

  resume(): void {
    for (const pid of this.stopped.splice(0)) process.kill(pid, 'SIGCONT');
  }

  node(index: number): AgentProcess {
    const agent = this.cluster.agents[index];
    if (agent === undefined) throw new Error(`no agent ${index}`);
    return agent;
  }

  /** Drops the heartbeats so far, and waits for one that meets the condition. */
  nextBeat(name: string, isSo: (beat: Heartbeat) => boolean = () => true): Promise<Heartbeat> {
    this.cluster.api.heartbeats.delete(name);
    return this.cluster.api.until(name, isSo);
  }
}

/** Two agents for the tests of a suite. */
export function useHangingParts(): HangingParts {
  const parts = new HangingParts();
  beforeAll(() => parts.cluster.start(2));
  afterEach(() => parts.resume());
  afterAll(() => parts.cluster.stop());
  return parts;
}

/** Opens the copy in its host, as an engine's start does. Done before, it leaves that start nothing to wait for. */
export async function openCopy(agent: AgentProcess, replicaId: string, epoch = 1): Promise<void> {
  const answer = await agent.call('POST', `/v1/replicas/${replicaId}/open`, { epoch });
  expect(answer).toMatchObject({ status: 200 });
}
