/** Decides about keeping new replicas away from a node. Neither way needs anything of it: a dead node is cordoned too. */
import type { StorageNode } from '../model/node.js';
import { ALLOWED, type Decision, unchanged } from './decision.js';

type CordonFacts = Pick<StorageNode, 'name' | 'cordoned'> & Partial<Pick<StorageNode, 'drain'>>;

export function decideCordon({ name, cordoned }: CordonFacts): Decision<never> {
  return cordoned ? unchanged(`node ${name} is cordoned already`) : ALLOWED;
}

/** It ends the node's drain, too. */
export function decideUncordon({ name, cordoned, drain }: CordonFacts): Decision<never> {
  return cordoned || drain !== undefined ? ALLOWED : unchanged(`node ${name} is not cordoned`);
}
