/**
 * Port of each process within the stack's block of 40. The ports are fixed, so that an NBD address that a user has
 * copied still holds after a restart.
 */
export type PortPlan = {
  api: number;
  console: number;
  postgres: number;
  worker: number;
  /** Control and NBD ports of the n-th local agent, from 0. */
  agent(index: number): { control: number; nbd: number };
};

export const AGENTS_MAX = 10;
const AGENT_CONTROL_OFFSET = 10;
const AGENT_NBD_OFFSET = 20;

export function portPlan(base: number): PortPlan {
  return {
    api: base,
    console: base + 1,
    postgres: base + 2,
    worker: base + 3,
    agent(index) {
      if (index >= AGENTS_MAX) throw new Error(`a local stack runs at most ${AGENTS_MAX} agents`);
      return { control: base + AGENT_CONTROL_OFFSET + index, nbd: base + AGENT_NBD_OFFSET + index };
    },
  };
}
