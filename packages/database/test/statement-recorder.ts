/**
 * Recorder of SQL statements, and a judge of their plans. A suite that runs on a recorded pool finds every statement that
 * the code under test sends, whoever wrote it, with the line that sends it.
 */
import path from 'node:path';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import type pg from 'pg';

export type Statement = {
  readonly text: string;
  /** `packages/database/src/store/guard.ts:38`: the line of the repository that it was sent from. */
  readonly sentFrom: string;
};

export class StatementRecorder {
  private readonly byText = new Map<string, Statement>();
  /** Every line that has sent one. */
  readonly lines = new Set<string>();

  /** Has the pool's connections tell what they are sent. */
  watch(pool: pg.Pool): pg.Pool {
    pool.on('connect', (client) => this.watchClient(client));
    return pool;
  }

  /** In the order in which they were first sent. */
  get statements(): readonly Statement[] {
    return [...this.byText.values()];
  }

  private watchClient(client: pg.PoolClient): void {
    client.query = new Proxy(client.query, {
      apply: (query, self, args: unknown[]) => {
        const [asked] = args;
        if (typeof asked === 'string') this.note(asked);
        else if (isNamed(asked)) this.note(asked.text);
        return Reflect.apply(query, self, args);
      },
    });
  }

  private note(text: string): void {
    const sentFrom = sender();
    // What a test reads to judge the store by is no statement of the store's.
    if (sentFrom.startsWith('packages/testkit/')) return;
    this.lines.add(sentFrom);
    if (!this.byText.has(text)) this.byText.set(text, { text, sentFrom });
  }
}

function isNamed(asked: unknown): asked is { readonly text: string } {
  return typeof asked === 'object' && asked !== null && 'text' in asked && typeof asked.text === 'string';
}

/** How deep a statement's sender may be below the one that asks: the driver, the scope and the table between them. */
const FRAMES_MAX = 20;

/** The first caller outside of this file and of what only hands statements on. */
function sender(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  const lines = new Error().stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of lines) {
    const [, file, number] = /\(?(?:file:\/\/)?(\/[^():]+\.ts):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file === undefined || file.endsWith('statement-recorder.ts') || file.endsWith('sql/scope.ts'))
      continue;
    return `${path.relative(repositoryRoot, file)}:${number}`;
  }
  return 'elsewhere';
}

type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
};

export type PlanJudge = {
  /** Tables that grow with the cluster. */
  readonly large: ReadonlySet<string>;
  /** Indexes of a few rows of such a table. */
  readonly partial: ReadonlySet<string>;
};

/** A condition that holds for all rows of a large cluster. */
const OF_ALL = /^\((cluster_id|organization_id) = [^()]+\)$/;

/** What of a plan reads all of a large table, in words; none: nothing does. */
export function planFindings(node: PlanNode, judge: PlanJudge, isLimited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
  const findings: string[] = [];
  const isLarge = table === undefined || judge.large.has(table);
  if (type === 'Seq Scan' && table !== undefined && isLarge) findings.push(`it reads all of ${table}`);
  if (index !== undefined && isLarge && !judge.partial.has(index)) {
    if (condition === undefined && !isLimited) findings.push(`it reads all of the index ${index}`);
    if (condition !== undefined && OF_ALL.test(condition))
      findings.push(`it reads all that the cluster has in the index ${index}`);
  }
  const below = isLimited || type === 'Limit';
  return [...findings, ...(node.Plans ?? []).flatMap((child) => planFindings(child, judge, below))];
}

export function explainText(text: string): string {
  return `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`;
}
