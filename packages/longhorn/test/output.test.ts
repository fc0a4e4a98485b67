/** A report as HTML, as SARIF, and without names. */
import { expect, test } from '@jest/globals';
import { inspectCluster } from '../src/inspect-cluster.js';
import { reportSchema } from '../src/inspection/report.js';
import { htmlOf } from '../src/output/html.js';
import { redacted } from '../src/output/redact.js';
import { sarifOf } from '../src/output/sarif.js';
import { objectsOf } from './longhorn-objects.js';
import { clusterOf } from './read-lists.js';
import { aDisk, aNode, aReplica, aVolume, aWorld } from './worlds.js';

const EVIL = '<img src=x onerror=alert(1)>';

test('no name is left in a redacted report, and the same name is the same word', () => {
  const { cluster, report } = world();
  const given = redacted(report, cluster);
  const text = JSON.stringify(given);
  for (const name of ['acme', 'secret', 'berlin', 'gold', '/home/me', '10.1.2.3', '0b8d4f1c', 'someone'])
    expect(text).not.toContain(name);
  expect(reportSchema.parse(given)).toEqual(given);
  expect(given.summary).toEqual(report.summary);
  const [node] = given.topology[0]?.nodes ?? [];
  expect(node?.name).toBe('node-1');
  expect(given.risk?.lostWith.nodes.map(({ name }) => name)).toEqual(['node-1']);
  expect(given.volumes[0]?.name).toBe('volume-1');
});

test('the HTML file runs nothing, takes nothing from elsewhere, and escapes what strangers named', () => {
  const html = htmlOf(world(EVIL).report);
  expect(html).not.toContain('<img');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(html).not.toMatch(/<script|<link|src=["']|href=|url\(/);
  expect(html).toContain("default-src 'none'");
  for (const title of ['Topology', 'Volumes that are not in order', 'Known failures', 'Risk'])
    expect(html).toContain(`<h2>${title}</h2>`);
});

test('SARIF has a result with its place for all that was found', () => {
  const { report } = world();
  const text = JSON.parse(JSON.stringify(sarifOf(report)));
  const [run] = text.runs;
  const ids = run.results.map(({ ruleId }: { ruleId: string }) => ruleId);
  expect(text.version).toBe('2.1.0');
  expect(ids).toHaveLength(report.volumes.length + report.findings.length + 1);
  expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual([...new Set(ids)].sort());
  expect(run.results.at(-1)).toMatchObject({
    ruleId: 'signature.iscsi-sessions-lost',
    level: 'warning',
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: '/home/me/bundle/logs/acme/x.log' },
          region: { startLine: 7 },
        },
      },
    ],
  });
});

/** Two nodes, of which one holds both replicas, and names that should not get out. */
function world(volumeName = 'secret-volume') {
  const cluster = clusterOf(
    objectsOf(
      {
        settings: aWorld('1.9').settings,
        nodes: ['acme-host-1', 'acme-host-2'].map((name) =>
          aNode(name, {
            zone: 'berlin',
            tags: ['gold'],
            disks: [aDisk(`0b8d4f1c-5a63-4a5e-9d2f-00000000000${name.slice(-1)}`, { scheduledReplicas: {} })],
          }),
        ),
        volumes: [
          {
            volume: aVolume(volumeName, { numberOfReplicas: 3, nodeSelector: ['gold'] }),
            replicas: [1, 2].map((at) =>
              aReplica(volumeName, `${volumeName}-r-${at}`, {
                nodeId: 'acme-host-1',
                diskId: '0b8d4f1c-5a63-4a5e-9d2f-000000000001',
              }),
            ),
          },
        ],
      },
      '1.9',
    ),
  );
  const evidence = [
    {
      object: 'log acme-host-1/x.log',
      message: 'acme-host-1 10.1.2.3 lost someone',
      at: { file: '/home/me/bundle/logs/acme/x.log', line: 7 },
    },
  ];
  const signature = {
    number: 8,
    name: 'iscsi-sessions-lost',
    title: 't',
    severity: 'warning' as const,
    isSuspect: false,
    advice: 'a',
    source: 's',
    count: 1,
    evidence,
  };
  const report = inspectCluster(
    { cluster, signatures: [signature], alertFindings: [] },
    '/home/me/bundle',
    new Date(0),
  );
  return { cluster, report };
}
