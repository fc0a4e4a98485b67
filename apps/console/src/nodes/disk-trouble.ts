/** Problem of a disk, in words of the console, and its cure. */
import type { Disk } from '../api/types';

type DiskConditions = {
  readonly conditions: readonly Pick<Disk['conditions'][number], 'type' | 'status' | 'reason' | 'message'>[];
};

export type DiskTrouble = {
  readonly tone: 'bad' | 'warn';
  readonly word: string;
  readonly message: string;
  /** What a user can do about it. */
  readonly cure?: string;
  /** The disk waits for a user who says that it is the true one. */
  readonly isAcceptable: boolean;
};

const WORDS: Readonly<Record<string, { word: string; cure: string; isAcceptable: boolean }>> = {
  'Ready DuplicateDisk': {
    word: 'Second disk of one identity',
    cure: 'Remove it if it is a copy. Accept it if the first one is gone for good: writes since it was copied are lost then.',
    isAcceptable: true,
  },
  'Ready DiskSetBack': {
    word: 'Earlier state of the disk',
    cure: 'Bring the newest state back, such as by undoing a restore. Or accept this one: later writes are lost unless another copy has them.',
    isAcceptable: true,
  },
  'Unique DuplicateDisk': {
    word: 'Another disk has its identity',
    cure: 'This one is in use. Remove the second one, which is listed at its own node.',
    isAcceptable: false,
  },
};

/** The worst problem; `undefined`: none. Without direct I/O it works, at a cost: shown only if nothing worse is. */
export function diskTrouble({ conditions }: DiskConditions): DiskTrouble | undefined {
  const refused = conditions.filter(({ status }) => status === 'False');
  const worst =
    refused.find(({ type }) => type === 'Ready') ??
    refused.find(({ type }) => type !== 'DirectIo') ??
    refused[0];
  if (worst === undefined) return undefined;
  const { type, reason, message } = worst;
  const known = WORDS[`${type} ${reason}`] ?? { word: wordOf(type, reason), isAcceptable: false };
  return { tone: type === 'Ready' ? 'bad' : 'warn', message, ...known };
}

function wordOf(type: string, reason: string): string {
  if (type === 'DirectIo') return 'No direct I/O';
  return reason === '' ? `Not ${type.toLowerCase()}` : reason;
}
