// The statements that the API's process sends to Postgres for one request, as they left it.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';

export type Statement = { readonly text: string; readonly values: readonly unknown[] };

const recordings = new AsyncLocalStorage<Statement[]>();

let isRecording = false;

/**
 * Has every client of this process tell what it sends for work that runs in {@link statementsOf}. Asked twice it does nothing
 * more: a statement that is told twice would give the baseline twice the work.
 */
export function recordStatements(): void {
  if (isRecording) return;
  isRecording = true;
  const prototype: { query: (...args: unknown[]) => unknown } = pg.Client.prototype;
  const send = prototype.query;
  prototype.query = function query(...args: unknown[]) {
    const [asked, given] = args;
    const { text, values } = typeof asked === 'string' ? { text: asked, values: given } : partsOf(asked);
    if (text !== undefined)
      recordings.getStore()?.push({ text, values: Array.isArray(values) ? values : [] });
    return send.apply(this, args);
  };
}

/** Of a statement that has a name, which the baseline sends without one. */
function partsOf(asked: unknown): { text?: string; values?: unknown } {
  const isNamed = typeof asked === 'object' && asked !== null && 'name' in asked && 'text' in asked;
  if (!isNamed || typeof asked.text !== 'string') return {};
  return { text: asked.text, values: 'values' in asked ? asked.values : [] };
}

export async function statementsOf(work: () => Promise<unknown>): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  await recordings.run(statements, work);
  return statements;
}
