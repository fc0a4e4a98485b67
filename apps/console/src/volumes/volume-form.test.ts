import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { readVolumeForm, readVolumeShape } from './volume-form';

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const PLAIN = {
  name: ' data ',
  sizeGib: '1.5',
  replicas: '3',
  dataLocality: '',
  replicaSoftAntiAffinity: '',
};

test('fields that were left as they are ask for nothing of their own', () => {
  const want = { size: 1.5 * GIB, numberOfReplicas: 3 };
  expect(readVolumeForm(formOf(PLAIN))).toEqual({ name: 'data', ...want });
  expect(readVolumeShape(formOf(PLAIN))).toEqual({ count: 1, ...want });
});

test('all options are asked for, and those that decide a place are asked about', () => {
  const form = formOf({
    ...PLAIN,
    dataEngine: 'v2',
    dataLocality: 'best-effort',
    nodeSelector: 'ssd, fast',
    diskSelector: 'nvme',
    replicaSoftAntiAffinity: 'enabled',
    snapshotMaxCount: '20',
    zones: 'zone-a',
    labels: 'team=a, tier',
    projectId: 'p',
  });
  const spec = {
    size: 1.5 * GIB,
    numberOfReplicas: 3,
    dataEngine: 'v2',
    dataLocality: 'best-effort',
    nodeSelector: ['ssd', 'fast'],
    diskSelector: ['nvme'],
    replicaSoftAntiAffinity: 'enabled',
    snapshotMaxCount: 20,
  };
  expect(readVolumeForm(form)).toEqual({
    name: 'data',
    ...spec,
    projectId: 'p',
    topologyRequirement: [{ zone: 'zone-a' }],
    labels: { team: 'a', tier: '' },
  });
  expect(readVolumeShape(form)).toEqual({ count: 1, ...spec });
});

test.each([{ sizeGib: '' }, { sizeGib: '0' }, { replicas: '' }])('%j is not asked about', (change) => {
  expect(readVolumeShape(formOf({ ...PLAIN, ...change }))).toBeUndefined();
});
