'use client';
import { SUMMARIES } from '@holdfast/api-client/summaries';
import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { AuditEntry } from '../api/types';
import { actorWords, type KnownNames, targetWords } from './audit-names';

const RESULTS = {
  done: { tone: 'good', word: 'Done' },
  refused: { tone: 'warn', word: 'Refused' },
  dry: { tone: 'idle', word: 'Tried' },
} as const;

/** One request in words; expanded, as the API has it, with its changes. */
export function AuditLine({ entry, names }: { entry: AuditEntry; names: KnownNames }) {
  const { action, address, at, result, reason, before, after } = entry;
  const { tone, word } = RESULTS[result];
  const isChange = before !== null || after !== null;
  return (
    <li className="border-b border-border px-4 py-2 last:border-0">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="w-20">
          <Badge tone={tone} quiet>
            {word}
          </Badge>
        </span>
        <span className="min-w-0 flex-1 basis-72 text-sm">
          {inWords(action)}
          <span className="block text-xs text-muted">
            {targetWords(entry, names)}
            {reason === '' ? '' : `: ${reason}`}
          </span>
        </span>
        <span className="text-xs text-muted">
          {actorWords(entry, names)}
          {address === '' ? '' : ` from ${address}`}, <Moment at={at} />
        </span>
      </div>
      <details className="mt-1 text-xs">
        <summary className="min-h-6 cursor-pointer text-muted">
          {isChange ? 'What changed' : 'What was asked'}
        </summary>
        <p className="mt-1 font-mono break-words text-muted">{action}</p>
        <p className="font-mono break-words text-muted">
          {entry.target.kind} {entry.target.id}, {entry.actor.kind} {entry.actor.id}
        </p>
        {isChange && (
          <dl className="mt-1 grid gap-2 sm:grid-cols-2">
            <Side title="Before" fields={before} />
            <Side title="After" fields={after} />
          </dl>
        )}
      </details>
    </li>
  );
}

/** Action for people. A route without a known summary is shown as it is. */
function inWords(action: string): string {
  const [kind, name] = action.split(' ');
  if (kind !== 'mutation' || name === undefined) return SUMMARIES[action] ?? action;
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
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
