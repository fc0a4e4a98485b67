import type { Pool } from '@holdfast/database/sql/pool.js';

/** Long after any test: a copied volume is judged when it is marked due, and not because it exists; nor is a copy missed. */
const NOT_DUE = '2100-01-01T00:00:00Z';
const BATCH = 500;

type Client = Pick<Pool, 'query'>;
/** Rows of a volume as texts, and the ids in them of the volume itself and of its copies. */
type Template = { readonly rows: ReadonlyMap<string, readonly string[]>; readonly ids: readonly string[] };

const TABLES = { volume: 'id', replica: 'volume_id', engine_observation: 'volume_id' };

/**
 * Makes volumes that are rows only, as many as a large cluster has: copies of one that the stack has made, at the same places. Their
 * agents know nothing of them, so they are for nodes that do not answer.
 */
export async function copyVolume(
  client: Client,
  { volumeId, names }: { volumeId: string; names: readonly string[] },
): Promise<void> {
  const { rows, ids } = await readTemplate(client, volumeId);
  const pattern = new RegExp(ids.join('|'), 'g');
  for (let first = 0; first < names.length; first += BATCH) {
    const texts = new Map([...rows.keys()].map((table) => [table, [] as string[]]));
    for (const name of names.slice(first, first + BATCH)) {
      const own = new Map(ids.map((id) => [id, crypto.randomUUID()]));
      const renamed = (text: string) => text.replace(pattern, (id) => own.get(id) ?? id);
      for (const [table, lines] of rows) {
        const changed = lines.map(renamed);
        texts.get(table)?.push(...changed.map((line) => changedRow(table, line, name)));
      }
    }
    for (const [table, lines] of texts)
      await client.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1)`, [
        `[${lines.join(',')}]`,
      ]);
  }
}

async function readTemplate(client: Client, volumeId: string): Promise<Template> {
  const rows = new Map<string, readonly string[]>();
  for (const [table, column] of Object.entries(TABLES)) {
    const text = `SELECT to_jsonb(t)::text AS row FROM ${table} t WHERE ${column} = $1`;
    const found = await client.query<{ row: string }>(text, [volumeId]);
    rows.set(
      table,
      found.rows.map(({ row }) => row),
    );
  }
  const copies = await client.query<{ id: string }>('SELECT id FROM replica WHERE volume_id = $1', [
    volumeId,
  ]);
  return { rows, ids: [volumeId, ...copies.rows.map(({ id }) => id)] };
}

/** No agent has the copies, so that they count as missed only from then on: otherwise they would soon be taken for lost. */
function changedRow(table: string, line: string, name: string): string {
  if (table === 'volume') return JSON.stringify({ ...JSON.parse(line), name, reconcile_due_at: NOT_DUE });
  return table === 'replica' ? JSON.stringify({ ...JSON.parse(line), unreported_since: NOT_DUE }) : line;
}
