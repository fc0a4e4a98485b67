'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { AuditEntry } from '../api/types';

const RESULTS = {
  done: { tone: 'good', word: 'Done' },
  refused: { tone: 'warn', word: 'Refused' },
  dry: { tone: 'idle', word: 'Tried' },
} as const;

/** One request, and what it changed when it is opened. */
export function AuditLine({ entry }: { entry: AuditEntry }) {
  const { action, actor, address, at, result, reason, target, before, after } = entry;
  const { tone, word } = RESULTS[result];
  return (
    <li className="border-b border-border px-4 py-2 last:border-0">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="w-20">
          <Badge tone={tone} quiet>
            {word}
          </Badge>
        </span>
        <span className="min-w-0 flex-1 basis-72 text-sm">
          <code className="font-mono text-xs break-words">{action}</code>
          <span className="block text-xs text-muted">
            {target.kind} {target.id}
            {reason === '' ? '' : `: ${reason}`}
          </span>
        </span>
        <span className="text-xs text-muted">
          {actor.kind} {actor.id.slice(0, 8)}
          {address === '' ? '' : ` from ${address}`}, <Moment at={at} />
        </span>
      </div>
      {(before !== null || after !== null) && (
        <details className="mt-1 text-xs">
          <summary className="min-h-6 cursor-pointer text-muted">What changed</summary>
          <dl className="mt-1 grid gap-2 sm:grid-cols-2">
            <Side title="Before" fields={before} />
            <Side title="After" fields={after} />
          </dl>
        </details>
      )}
    </li>
  );
}

function Side({ title, fields }: { title: string; fields: AuditEntry['before'] }) {
  return (
    <div className="min-w-0">
      <dt className="font-medium text-muted">{title}</dt>
      <dd>
        <pre className="rounded bg-sunken p-2 font-mono break-words whitespace-pre-wrap">
          {fields === null ? '–' : JSON.stringify(fields, null, 2)}
        </pre>
      </dd>
    </div>
  );
}
