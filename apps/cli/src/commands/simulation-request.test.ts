import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { describe, expect, test } from '@jest/globals';
import { simulateBody } from './simulation-request.js';

const NOTHING = {
  lose: { nodes: [], zones: [], disks: [] },
  add: { nodes: [], disks: [] },
  drain: [],
  settings: {},
  howManyMore: false,
};

describe('the flags of a simulation', () => {
  test('without any, nothing is asked', () => expect(simulateBody({})).toEqual(NOTHING));

  test('volumes are asked for by their shape, one unless a number is given', () => {
    const options = { count: '20', size: '100Gi', replicas: '2', nodeSelector: ['ssd'] };
    const shape = { count: 20, size: 100 * GIB, numberOfReplicas: 2, nodeSelector: ['ssd'] };
    expect(simulateBody(options)).toEqual({ ...NOTHING, volumes: [shape] });
    expect(simulateBody({ size: '1Ti' })).toEqual({ ...NOTHING, volumes: [{ count: 1, size: TIB }] });
  });

  test('what is lost, set and counted is asked for', () => {
    const options = {
      loseNode: ['n1'],
      loseZone: ['z'],
      loseDisk: ['n2/d1'],
      set: ['balance-alpha=0.5', 'replica-soft-anti-affinity=true', 'replica-disk-choice=pack'],
      howManyMore: true,
    };
    expect(simulateBody(options)).toEqual({
      ...NOTHING,
      lose: { nodes: ['n1'], zones: ['z'], disks: ['n2/d1'] },
      settings: { 'balance-alpha': 0.5, 'replica-soft-anti-affinity': true, 'replica-disk-choice': 'pack' },
      howManyMore: true,
    });
  });

  test.each([
    ['big,disks=1Ti', { name: 'big', disks: [{ size: TIB }] }],
    [
      'big,zone=zone-d,disks=2x1Ti,count=3,tags=ssd+fast',
      { name: 'big', zone: 'zone-d', count: 3, tags: ['ssd', 'fast'], disks: [{ size: TIB }, { size: TIB }] },
    ],
  ])('a node to add: %s', (text, node) => {
    expect(simulateBody({ addNode: [text] })).toEqual({ ...NOTHING, add: { nodes: [node], disks: [] } });
  });

  test.each([
    ['n1,size=1Ti', { node: 'n1', size: TIB }],
    [
      'n1,size=1Ti,count=2,type=block,tags=ssd+fast',
      { node: 'n1', size: TIB, count: 2, type: 'block', tags: ['ssd', 'fast'] },
    ],
  ])('a disk to add: %s', (text, disk) => {
    expect(simulateBody({ addDisk: [text] })).toEqual({ ...NOTHING, add: { nodes: [], disks: [disk] } });
  });

  test.each([
    ['n1', { node: 'n1' }],
    ['n1,policy=always-allow', { node: 'n1', policy: 'always-allow' }],
  ])('a node to drain: %s', (text, drain) => {
    expect(simulateBody({ drain: [text] })).toEqual({ ...NOTHING, drain: [drain] });
  });

  test.each([
    ['volumes without a size', { count: '3' }, /without a size/],
    ['copies without a size', { replicas: '3' }, /without a size/],
    ['half a volume', { count: '1.5', size: '1Gi' }, /no whole number/],
    ['no size', { size: 'large' }, /no size/],
    ['a node without disks', { addNode: ['big'] }, /needs disks/],
    ['a node with an unknown field', { addNode: ['big,disks=1Ti,colour=red'] }, /colour is not known/],
    ['a node with half a field', { addNode: ['big,zone'] }, /zone has no value/],
    ['a disk without a size', { addDisk: ['n1'] }, /needs a size/],
    ['a disk with an unknown field', { addDisk: ['n1,size=1Ti,zone=a'] }, /zone is not known/],
    ['a drain with an unknown policy', { drain: ['n1,policy=now'] }, /now/],
    ['a drain with an unknown field', { drain: ['n1,zone=a'] }, /zone is not known/],
    ['a setting without a value', { set: ['balance-alpha'] }, /sets nothing/],
  ])('%s is refused', (_name, options, message) => {
    expect(() => simulateBody(options)).toThrow(message);
  });
});
