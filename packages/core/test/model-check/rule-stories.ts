import type { Rule } from './protocol-rules.js';

type Story = {
  copies: number;
  steps: string[];
  /** Where the rule makes another step of it. */
  held?: string[];
};

/** Runs without which some rules do not matter, step after step: chance would need millions of tries. */
export const RULE_STORIES: Partial<Record<Rule, Story>> = {
  'a record without a dropped copy precedes the next acknowledgement': {
    copies: 3,
    steps: [
      ...['b', 'c'].flatMap((copy) => [`copy ${copy} is cut off`, `copy ${copy} returns`]),
      ...['b', 'c'].map((copy) => `engine 1 drops copy ${copy}`),
      ...writeAndAcknowledge('a'),
      ...flush(1, 'a'),
      ...attach(2, 'b', 'c'),
      'engine 2 is announced with its record',
    ],
  },
  'an attach needs half of the members': {
    copies: 3,
    steps: [
      'copy c is cut off',
      'copy c returns',
      ...drop(1, 'c', 'a', 'b'),
      ...writeAndAcknowledge('a', 'b'),
      ...flush(1, 'a', 'b'),
      ...attach(2, 'c'),
      'engine 2 is announced with its record',
    ],
  },
  'a copy that was set back is not current': {
    copies: 2,
    steps: [...setBack(), ...attach(3, 'a', 'b'), 'engine 3 is announced with its record'],
    held: [
      ...setBack(),
      'Postgres grants an attachment',
      'engine 3 opens copy a',
      'engine 3 opens copy b',
      'engine 3 begins with a',
      'engine 3 stores its record on copy a',
      'engine 3 is announced with its record',
    ],
  },
  'a copy that was opened unequal has not kept what was acknowledged': {
    copies: 2,
    steps: [
      ...writeAndAcknowledge('a', 'b'),
      'engine 1 dies',
      'the process of copy b dies, leaving 0',
      ...attach(2, 'a', 'b'),
      'engine 2 dies',
      ...attach(3, 'a', 'b'),
      'engine 3 is announced with its record',
      ...flush(3, 'a', 'b'),
      ...loseCopyA(3),
    ],
  },
  'a flush waits until copies that lost something are equal to the others': {
    copies: 2,
    steps: [
      ...writeAndAcknowledge('a', 'b'),
      'engine 1 dies',
      'the process of copy b dies, leaving 0',
      ...attach(2, 'a', 'b'),
      'engine 2 is announced with its record',
      ...flush(2, 'a', 'b'),
      ...loseCopyA(2),
    ],
  },
  'a flush is acknowledged when all copies have flushed': {
    copies: 2,
    steps: [
      ...writeAndAcknowledge('a', 'b'),
      'engine 1 sends a flush',
      'engine 1 has copy b flush',
      'engine 1 acknowledges the flush',
      'engine 1 dies',
      'the process of copy a dies, leaving 0',
      'the process of copy b dies, leaving 1',
      ...attach(2, 'a', 'b'),
      'engine 2 is announced with its record',
    ],
  },
  'a rebuilt copy joins by a record before it is read': {
    copies: 3,
    steps: [
      'copy c is cut off',
      'copy c returns',
      ...drop(1, 'c', 'a', 'b'),
      'engine 1 prepares copy c for a rebuild',
      'engine 1 copies all to copy c',
      'engine 1 promotes copy c',
      'copy a is cut off',
      ...drop(1, 'a', 'b', 'c'),
      ...writeAndAcknowledge('b', 'c'),
      ...flush(1, 'b', 'c'),
      'engine 1 dies',
      'copy a returns',
      ...attach(2, 'a'),
      'engine 2 is announced with its record',
    ],
  },
  'a target of a rebuild is no member until it has all': {
    copies: 3,
    steps: [
      ...writeAndAcknowledge('a', 'b', 'c'),
      ...flush(1, 'a', 'b', 'c'),
      ...['a', 'b', 'c'].map((copy) => `engine 1 clears the marks of copy ${copy}`),
      'copy c is cut off',
      'copy c returns',
      'engine 1 drops copy c',
      'engine 1 prepares copy c for a rebuild',
      'engine 1 dies',
      'copy a is cut off',
      ...attach(2, 'b', 'c'),
      'engine 2 is announced with its record',
    ],
  },
};

/** Copy b forgets what it was and held before the attachment during which all of it was flushed. */
function setBack(): string[] {
  return [
    'engine 1 dies',
    ...attach(2, 'a', 'b'),
    'engine 2 is announced with its record',
    ...writeAndAcknowledge('a', 'b').map((step) => step.replace('engine 1', 'engine 2')),
    ...flush(2, 'a', 'b'),
    ...['a', 'b'].map((copy) => `engine 2 clears the marks of copy ${copy}`),
    'engine 2 dies',
    'copy b is set back',
  ];
}

function writeAndAcknowledge(...copies: string[]): string[] {
  const arrivals = copies.map((copy) => `engine 1 has write 1 arrive at copy ${copy}`);
  return ['engine 1 sends write 1', ...arrivals, 'engine 1 acknowledges write 1'];
}

function attach(epoch: number, ...copies: string[]): string[] {
  return [
    'Postgres grants an attachment',
    ...copies.map((copy) => `engine ${epoch} opens copy ${copy}`),
    `engine ${epoch} begins with ${copies}`,
    ...copies.map((copy) => `engine ${epoch} stores its record on copy ${copy}`),
  ];
}

function flush(epoch: number, ...copies: string[]): string[] {
  const flushed = copies.map((copy) => `engine ${epoch} has copy ${copy} flush`);
  return [`engine ${epoch} sends a flush`, ...flushed, `engine ${epoch} acknowledges the flush`];
}

function drop(epoch: number, copy: string, ...others: string[]): string[] {
  const stored = others.map((other) => `engine ${epoch} stores its record on copy ${other}`);
  return [`engine ${epoch} drops copy ${copy}`, `engine ${epoch} makes a record`, ...stored];
}

function loseCopyA(epoch: number): string[] {
  return [
    'copy a is cut off',
    `engine ${epoch} drops copy a`,
    `engine ${epoch} asks Postgres to record its members`,
    `engine ${epoch} stores its record on copy b`,
  ];
}
