import { expect, test } from '@jest/globals';
import { EXIT } from '../exit-codes.js';
import { patchBody, planText } from './volume-set.js';

test.each<[string, Parameters<typeof patchBody>[0], Record<string, unknown>]>([
  ['labels that are named', { label: ['team=a', 'old-'] }, { labels: { team: 'a', old: null } }],
  ['nothing', {}, {}],
  ['a count', { replicas: '3' }, { numberOfReplicas: 3 }],
  ['a mode', { snapshotDataIntegrity: 'enabled' }, { snapshotDataIntegrity: 'enabled' }],
  ['a mode of the cluster', { snapshotDataIntegrity: 'inherit' }, { snapshotDataIntegrity: 'ignored' }],
  ['a count of the cluster', { snapshotMaxCount: 'inherit' }, { snapshotMaxCount: 0 }],
  ['a bandwidth', { rebuildingBandwidthLimit: '20' }, { replicaRebuildingBandwidthLimit: 20 }],
  ['what the cluster does, refused', { failoverDelay: 'never' }, { failoverDelay: -1 }],
  ['the words of the API', { offlineRebuilding: 'ignored' }, { offlineRebuilding: 'ignored' }],
  ['some tags', { nodeSelector: ['ssd', 'fast'] }, { nodeSelector: ['ssd', 'fast'] }],
  ['no tags any more', { nodeSelector: true }, { nodeSelector: [] }],
  ['several', { diskChoice: 'pack', replicas: '2' }, { numberOfReplicas: 2, replicaDiskChoice: 'pack' }],
])('of %s is made what the API takes', (_, options, body) => {
  expect(patchBody(options)).toEqual(body);
});

test.each<[string, Parameters<typeof patchBody>[0]]>([
  ['what can not be followed', { dataLocality: 'inherit' }],
  ['a word of another option', { offlineRebuilding: 'fast-check' }],
  ['half a copy', { replicas: '1.5' }],
  ['never, where the cluster does nothing that could be refused', { snapshotMaxCount: 'never' }],
])('%s is wrong usage', (_, options) => {
  expect(() => patchBody(options)).toThrow(expect.objectContaining({ exitCode: EXIT.usage }));
});

test('a plan names each copy that goes, and why', () => {
  const copy = {
    replicaId: 'r2',
    nodeName: 'node-2',
    diskName: 'disk-1',
    why: 'the volume has 3 copies and wants 2',
  };
  const text = planText({ sentence: 'the copy on node-2 goes', removes: [copy], unfit: [] });
  expect(text).toBe('the copy on node-2 goes\n  - replica r2 on node-2: the volume has 3 copies and wants 2');
});
