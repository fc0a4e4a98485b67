import { expect, test } from '@jest/globals';
import { diskTrouble } from './disk-trouble';

const refused = (type: string, reason = '') => ({
  type,
  status: 'False' as const,
  reason,
  message: 'as it is',
});
const fine = { type: 'Ready', status: 'True' as const, reason: '', message: '' };

test.each([
  ['nothing', [fine], undefined],
  [
    'a second disk',
    [refused('Ready', 'DuplicateDisk')],
    { word: 'Second disk of one identity', isAcceptable: true },
  ],
  [
    'a disk that was set back',
    [refused('Ready', 'DiskSetBack')],
    { word: 'Earlier state of the disk', isAcceptable: true },
  ],
  [
    'the first of two',
    [fine, refused('DirectIo'), refused('Unique', 'DuplicateDisk')],
    { word: 'Another disk has its identity', isAcceptable: false, tone: 'warn' },
  ],
  [
    'one that is not there',
    [refused('DirectIo'), refused('Ready', 'DiskMissing')],
    { word: 'DiskMissing', tone: 'bad' },
  ],
  ['no direct I/O', [fine, refused('DirectIo')], { word: 'No direct I/O', isAcceptable: false }],
])('what is told of %s', (_what, conditions, want) => {
  const trouble = diskTrouble({ conditions });
  if (want === undefined) expect(trouble).toBeUndefined();
  else expect(trouble).toMatchObject(want);
});

test('the two that wait for a user say what is lost by accepting them', () => {
  for (const reason of ['DuplicateDisk', 'DiskSetBack'])
    expect(diskTrouble({ conditions: [refused('Ready', reason)] })?.cure).toMatch(/[Aa]ccept .* lost/);
});
