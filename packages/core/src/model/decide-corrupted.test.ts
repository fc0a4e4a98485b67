import { expect, test } from '@jest/globals';
import { decideCorrupted, decideUnproven } from './decide-corrupted.js';

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

test.each<{ name: string; copies: string; unproven: string[] }>([
  { name: 'all agree', copies: 'x=x x=x x=x', unproven: [] },
  { name: 'one differs from two', copies: 'x=x y=x x=x', unproven: ['r1'] },
  { name: 'the majority decides, whatever was recorded', copies: 'x=y y=y x=y', unproven: ['r1'] },
  { name: 'one of two is not what it had recorded', copies: 'x=x y=x', unproven: ['r1'] },
  { name: 'one of two is, and the other had recorded nothing', copies: 'x=x y=-', unproven: [] },
  { name: 'each is what it had recorded', copies: 'x=x y=y', unproven: [] },
  { name: 'neither is what it had recorded', copies: 'x=z y=z', unproven: [] },
  { name: 'a merge has changed both alike', copies: 'x=z x=z', unproven: [] },
  { name: 'one of three that differ is what it had recorded', copies: 'x=x y=x z=x', unproven: ['r1', 'r2'] },
  { name: 'the last copy', copies: 'x=y', unproven: [] },
])('of the copies $copies, $unproven can prove nothing: $name', ({ copies, unproven }) => {
  const hashed = copies.split(' ').map((text, index) => {
    const [checksum = '', recorded] = text.split('=');
    return {
      replicaId: `r${index}`,
      checksum,
      silentlyCorrupted: false,
      recorded: recorded === '-' ? null : recorded,
    };
  });
  expect(decideUnproven(hashed)).toEqual(unproven);
});
