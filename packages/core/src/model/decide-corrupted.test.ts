import { expect, test } from '@jest/globals';
import { decideCorrupted } from './decide-corrupted.js';

test.each<{ name: string; copies: string; corrupted: string[] }>([
  { name: 'all agree', copies: 'x x x', corrupted: [] },
  { name: 'one differs from two', copies: 'x y x', corrupted: ['r1'] },
  { name: 'the majority decides, whatever a copy thinks of itself', copies: 'x! x y', corrupted: ['r2'] },
  { name: 'two that differ, and neither knows', copies: 'x y', corrupted: [] },
  { name: 'two that differ, and one knows', copies: 'x y!', corrupted: ['r1'] },
  { name: 'two that differ, and both know: none is touched', copies: 'x! y!', corrupted: [] },
  { name: 'three that differ, one knows', copies: 'x y! z', corrupted: ['r1'] },
  { name: 'the last copy', copies: 'x!', corrupted: [] },
])('of the copies $copies, $corrupted are corrupted: $name', ({ copies, corrupted }) => {
  const hashed = copies.split(' ').map((text, index) => ({
    replicaId: `r${index}`,
    checksum: text.replace('!', ''),
    silentlyCorrupted: text.endsWith('!'),
  }));
  expect(decideCorrupted(hashed)).toEqual(corrupted);
});
