/** A cluster's risk in words: causes, effects on volumes, cures, and expected end. */
import type { ClusterRisk, RiskCause } from '../api/types';

type Effects = RiskCause['effects'];

export function volumesWord(count: number): string {
  return count === 1 ? '1 volume' : `${count.toLocaleString('en')} volumes`;
}

function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}`;
}

/** Worst first; nothing for what there is none of. */
export function effectWords({ notServed, faulted, unknown, degraded }: Effects): string[] {
  return [
    ...(notServed === 0 ? [] : [counted(notServed, 'not served')]),
    ...(faulted === 0 ? [] : [counted(faulted, 'faulted')]),
    ...(unknown === 0 ? [] : [counted(unknown, 'unknown')]),
    ...(degraded === 0 ? [] : [counted(degraded, 'degraded')]),
  ];
}

export function causeTitle({ kind, name }: RiskCause): string {
  switch (kind) {
    case 'node':
      return `${name} does not answer`;
    case 'disk':
      return `Disk ${name} can not be used`;
    case 'placement':
      return 'Copies without a place';
    case 'copies':
      return 'Missing copies';
  }
}

/** What a user can do about it. */
export function causeLink({ kind, name, effects }: RiskCause): string {
  switch (kind) {
    case 'node':
      return effects.notServed === 0
        ? `Start the agent on ${name}. Copies that do not return are built elsewhere.`
        : `Start the agent on ${name}, or detach its volumes by force and attach them on another node.`;
    case 'disk':
      return 'Look at the disk. Copies that do not return are built elsewhere.';
    case 'placement':
      return 'Make room, add a disk, or relax the rules: each volume shows which rule refuses which disk.';
    case 'copies':
      return 'Each volume shows its reason for waiting.';
  }
}

export type Safety = {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly body: string;
};

/** Answers when it will be safe. Never "now" while any volume is not healthy. */
export function safetyOf({ verdict, waits }: ClusterRisk): Safety {
  if (verdict === 'safe') return { tone: 'good', title: 'Now', body: 'Every volume has all its copies.' };
  const parts = waitWords(waits);
  const body = `${parts.join(', ')}.`;
  if (verdict === 'working') return { tone: 'warn', title: 'When this work is done', body };
  if (waits.user > 0) return { tone: 'bad', title: 'Not without you', body };
  if (waits.paused > 0) return { tone: 'warn', title: 'Not while rebuilds are paused', body };
  return { tone: 'warn', title: 'Not known yet', body };
}

function waitWords({ user, paused, running, queued, other }: ClusterRisk['waits']): string[] {
  return [
    ...(user === 0 ? [] : [`${volumesWord(user)} ${user === 1 ? 'needs' : 'need'} a decision`]),
    ...(paused === 0
      ? []
      : [`${volumesWord(paused)} ${paused === 1 ? 'waits' : 'wait'} for a paused rebuild`]),
    ...(running === 0 ? [] : [`${volumesWord(running)} being rebuilt`]),
    ...(queued === 0 ? [] : [`${volumesWord(queued)} in the queue`]),
    ...(other === 0
      ? []
      : [`${volumesWord(other)} ${other === 1 ? 'waits' : 'wait'} for a place or for a node to come back`]),
  ];
}
