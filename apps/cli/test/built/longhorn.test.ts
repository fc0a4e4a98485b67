/** `holdfast longhorn inspect` as a program: what it prints, and its exit codes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';

const CLI = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const FOLDER = mkdtempSync(join(tmpdir(), 'holdfast-longhorn-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

/** A node without room, and a volume that wants a second copy; its claim has a name that would drive a terminal. */
const DUMP = `apiVersion: v1
kind: List
items:
- apiVersion: longhorn.io/v1beta2
  kind: Node
  metadata: {name: n1, namespace: lh}
  spec: {allowScheduling: true, disks: {data: {path: /data, allowScheduling: true, storageReserved: 0}}}
  status:
    conditions: [{type: Ready, status: "True"}, {type: Schedulable, status: "True"}]
    diskStatus:
      data:
        diskUUID: u1
        storageMaximum: 1000000
        storageAvailable: 900000
        storageScheduled: 4096
        scheduledReplica: {v-r-1: 4096}
        conditions: [{type: Ready, status: "True"}, {type: Schedulable, status: "True"}]
- apiVersion: longhorn.io/v1beta2
  kind: Volume
  metadata: {name: v, namespace: lh}
  spec: {size: "4096", numberOfReplicas: 2}
  status:
    state: attached
    robustness: degraded
    kubernetesStatus: {namespace: shop, pvcName: "\\e[2Jdata"}
    conditions:
    - {type: Scheduled, status: "False", reason: ReplicaSchedulingFailure, message: replica scheduling failed}
- apiVersion: longhorn.io/v1beta2
  kind: Replica
  metadata: {name: v-r-1, namespace: lh}
  spec: {volumeName: v, volumeSize: "4096", nodeID: n1, diskID: u1, healthyAt: "2026-01-01T00:00:00Z", active: true}
`;

function inspect(text: string, ...more: string[]) {
  const file = join(FOLDER, 'dump.yaml');
  writeFileSync(file, text);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [CLI, 'longhorn', 'inspect', file, ...more],
    {
      encoding: 'utf8',
      // No stack and no context are there.
      env: { PATH: process.env.PATH, HOME: FOLDER },
    },
  );
  return { stdout, stderr, status };
}

test('a degraded volume is told with its reasons, and fails', () => {
  const { stdout, stderr, status } = inspect(DUMP);
  expect({ stderr, status }).toEqual({ stderr: '', status: 1 });
  expect(stdout).toContain('1 nodes, 1 disks, 1 volumes, 1 replicas');
  expect(stdout).toContain('critical: volume v (shop/\\u001b[2Jdata), degraded');
  expect(stdout).toContain('Longhorn: Scheduled: ReplicaSchedulingFailure: replica scheduling failed');
  expect(stdout).toContain('Compared: Asked now, its rules find no place either, for the same reasons.');
  expect(stdout).toContain('each was tried:');
});

test.each([
  { failOn: 'critical', wanted: 1 },
  { failOn: 'never', wanted: 0 },
  { failOn: 'sometimes', wanted: 2 },
])('with --fail-on $failOn it ends with $wanted', ({ failOn, wanted }) => {
  expect(inspect(DUMP, '--fail-on', failOn).status).toBe(wanted);
});

test('for scripts it prints the report, and a cluster in order is no failure', () => {
  const { stdout, status } = inspect(
    DUMP.replace('numberOfReplicas: 2', 'numberOfReplicas: 1')
      .replace('degraded', 'healthy')
      .replace('"False", reason: ReplicaSchedulingFailure', '"True", reason: ""'),
    '-o',
    'json',
  );
  const report: unknown = JSON.parse(stdout);
  expect({ report, status }).toMatchObject({
    report: {
      schema: 'holdfast.longhorn.inspect/1',
      cluster: { namespace: 'lh' },
      volumes: [],
      findings: [],
    },
    status: 0,
  });
});

test.each([
  { name: 'a file that is no YAML', text: '{{{ [', says: 'holds no objects of Longhorn' },
  {
    name: 'objects of another product',
    text: 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n',
    says: 'holds no objects of Longhorn',
  },
  { name: 'an empty file', text: '', says: 'holds no objects of Longhorn' },
])('$name is told, with exit code 2', ({ text, says }) => {
  const { stdout, stderr, status } = inspect(text);
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 });
  expect(stderr).toContain(says);
});
