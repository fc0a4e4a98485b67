import { expect, test } from '@jest/globals';
import { patchBody } from './volume-set.js';

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['nothing', {}, {}],
  ['a count', { replicas: '3' }, { numberOfReplicas: 3 }],
  ['a mode', { snapshotDataIntegrity: 'enabled' }, { snapshotDataIntegrity: 'enabled' }],
  ['a mode of the cluster', { snapshotDataIntegrity: 'inherit' }, { snapshotDataIntegrity: 'ignored' }],
  ['a count of the cluster', { snapshotMaxCount: 'inherit' }, { snapshotMaxCount: 0 }],
  ['the words of the API', { offlineRebuilding: 'ignored' }, { offlineRebuilding: 'ignored' }],
  ['some tags', { nodeSelector: ['ssd', 'fast'] }, { nodeSelector: ['ssd', 'fast'] }],
  ['no tags any more', { nodeSelector: true }, { nodeSelector: [] }],
  ['several', { diskChoice: 'pack', replicas: '2' }, { numberOfReplicas: 2, replicaDiskChoice: 'pack' }],
  ['what can not be followed', { dataLocality: 'inherit' }, { dataLocality: 'inherit' }],
])('of %s is made what the API takes', (_, options, body) => {
  expect(patchBody(options)).toEqual(body);
});
