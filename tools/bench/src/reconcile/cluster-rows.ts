// Rows of the measured cluster. One volume is made, attached and brought to rest by the real store and worker; the others
// are its copies with ids of their own, so that what holds for its rows holds for all.
import {
  type EngineReport,
  engineReportSchema,
  type Heartbeat,
  heartbeatSchema,
} from '@holdfast/core/model/agent-protocol.js';
import type { LocalSeed } from '@holdfast/database/seed-local.js';
import type { Pool } from '@holdfast/database/sql/pool.js';
import {
  diskIdOf,
  diskOf,
  engineNode,
  GIB,
  idOf,
  type NodeLoad,
  replicaIdOf,
  replicaNodes,
  type Shape,
  zoneOf,
} from './cluster-shape.js';

const BATCH = 2_000;
const TABLES = ['volume', 'replica', 'engine_observation'] as const;

/** Texts of the rows of the one volume, with what has to be replaced in them. */
export type Template = {
  readonly rows: Record<(typeof TABLES)[number], readonly string[]>;
  readonly report: string;
  /** Its ids: of the volume, its copies, their nodes and disks, the engine's node, that node's boot, and the grant. */
  readonly ids: readonly string[];
  readonly name: string;
};

export async function readTemplate(pool: Pool, volumeId: string): Promise<Template> {
  const rowsOf = async (table: (typeof TABLES)[number], column: string) => {
    const text = `SELECT to_jsonb(t)::text AS row FROM ${table} t WHERE ${column} = $1 ORDER BY to_jsonb(t)->>'id'`;
    return (await pool.query<{ row: string }>(text, [volumeId])).rows.map(({ row }) => row);
  };
  const { rows } = await pool.query<{
    name: string;
    ids: string[];
    report: string;
  }>(
    `SELECT v.name, o.report::text AS report,
       ARRAY[v.id, v.attached_node_id, v.engine_boot_id, v.grant_id]
         || (SELECT array_agg(r.id ORDER BY r.id) || array_agg(r.node_id ORDER BY r.id) || array_agg(r.disk_id ORDER BY r.id)
             FROM replica r WHERE r.volume_id = v.id) AS ids
     FROM volume v JOIN engine_observation o ON o.volume_id = v.id WHERE v.id = $1`,
    [volumeId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('the template is not attached');
  const ids = row.ids;
  if (new Set(ids).size !== ids.length) throw new Error('two things of the template share an id');
  return {
    rows: {
      volume: await rowsOf('volume', 'id'),
      replica: await rowsOf('replica', 'volume_id'),
      engine_observation: await rowsOf('engine_observation', 'volume_id'),
    },
    report: row.report,
    ids,
    name: row.name,
  };
}

/** The ids of a volume, in the template's order. Those of its copies are in order on both sides, as texts that list them are. */
function idsOf(shape: Shape, volume: number): string[] {
  const nodes = replicaNodes(shape, volume);
  const engine = engineNode(shape, volume);
  return [
    idOf('volume', volume),
    idOf('node', engine),
    idOf('boot', engine),
    idOf('grant', volume),
    ...nodes.map((_, copy) => replicaIdOf(volume, copy)),
    ...nodes.map((node) => idOf('node', node)),
    ...nodes.map((node, copy) => diskIdOf(shape, node, diskOf(shape, volume, copy))),
  ];
}

/** Makes a text of the template one of the volume's. */
function renamer({ ids, name }: Template, shape: Shape): (text: string, volume: number) => string {
  const pattern = new RegExp([...ids, name].join('|'), 'g');
  return (text, volume) => {
    const own = idsOf(shape, volume);
    return text.replace(pattern, (found) =>
      found === name ? `bench-${volume}` : (own[ids.indexOf(found)] ?? found),
    );
  };
}

export async function copyVolumes(pool: Pool, template: Template, shape: Shape): Promise<void> {
  const rename = renamer(template, shape);
  for (let first = 0; first < shape.volumes; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, shape.volumes - first) }, (_, at) => first + at);
    for (const table of TABLES) {
      const rows = batch.flatMap((volume) => template.rows[table].map((row) => rename(row, volume)));
      const text = `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1)`;
      await pool.query(text, [`[${rows.join(',')}]`]);
    }
  }
  await pool.query(
    `UPDATE disk d SET storage_scheduled_bytes = r.booked, written_bytes = r.written
     FROM (SELECT disk_id, sum(size_bytes)::bigint AS booked, sum(written_bytes)::bigint AS written
           FROM replica GROUP BY disk_id) r
     WHERE d.id = r.disk_id`,
  );
}

export function engineReports(template: Template, shape: Shape): (volume: number) => EngineReport {
  const rename = renamer(template, shape);
  return (volume) => engineReportSchema.parse(JSON.parse(rename(template.report, volume)));
}

/** A node as its agent reports it. Without a load it holds nothing yet. */
export function heartbeatOf(
  shape: Shape,
  node: number,
  parts: { controlUrl: string; load?: NodeLoad; report?: (volume: number) => EngineReport },
): Heartbeat {
  const { controlUrl, load, report } = parts;
  const ofCopy = ({ volume, copy }: NodeLoad['copies'][number]) => ({
    replicaId: replicaIdOf(volume, copy),
    volumeId: idOf('volume', volume),
    diskId: diskIdOf(shape, node, diskOf(shape, volume, copy)),
    writtenBytes: 0,
    record: report?.(volume).record ?? null,
  });
  const heartbeat = {
    node: {
      name: `node-${node}`,
      zone: zoneOf(shape, node),
      region: null,
      bootId: idOf('boot', node),
      controlUrl,
      controlSecret: `secret-of-node-${node}-of-the-benchmark`,
      nbdHost: '127.0.0.1',
      nbdPort: 7420,
      pid: 1,
      version: '0.1.0',
    },
    disks: Array.from({ length: shape.disksPerNode }, (_, disk) => ({
      diskId: diskIdOf(shape, node, disk),
      name: `disk-${disk}`,
      path: `/disks/${disk}`,
      type: 'filesystem',
      fileSystem: 'ext4',
      maximumBytes: 4_000 * GIB,
      availableBytes: 3_000 * GIB,
      ready: true,
      reason: '',
      message: '',
    })),
    replicas: load?.copies.map(ofCopy) ?? [],
    engines: report === undefined ? [] : (load?.engines.map(report) ?? []),
  };
  return heartbeatSchema.parse(heartbeat);
}

/** Gives nodes the ids that the shape has for them: stores choose their own. */
export async function renumberNodes(pool: Pool, { clusterId }: LocalSeed): Promise<void> {
  await pool.query(
    `UPDATE node SET id = ('000000a1-0000-7000-8000-' || lpad(to_hex(substr(name, 6)::int), 12, '0'))::uuid
     WHERE cluster_id = $1`,
    [clusterId],
  );
}
