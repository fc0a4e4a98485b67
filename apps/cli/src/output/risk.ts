/** A cluster's risk as text: the verdict, then a line for each cause. */
import type { ClusterRisk } from '../types.js';
import { age } from './quantities.js';

const VERDICTS = {
  safe: 'every volume has all its copies',
  working: 'work under way makes every volume whole',
  stuck: 'for some volume no work is under way',
} satisfies Record<ClusterRisk['verdict'], string>;

export function riskText({ verdict, volumes, causes }: ClusterRisk, now: Date): string {
  const head = `${verdict}: ${VERDICTS[verdict]} (${volumes.healthy} of ${volumes.total} volumes healthy)`;
  return [head, ...causes.map((cause) => causeText(cause, now))].join('\n');
}

function causeText(
  { kind, name, since, effects, examples }: ClusterRisk['causes'][number],
  now: Date,
): string {
  const counts = Object.entries({
    'not served': effects.notServed,
    faulted: effects.faulted,
    unknown: effects.unknown,
    degraded: effects.degraded,
  }).flatMap(([word, count]) => (count === 0 ? [] : [`${count} ${word}`]));
  const what = counts.length === 0 ? 'no volume' : counts.join(', ');
  const when = since === null ? '' : ` for ${age(since, now)}`;
  const which = examples.length === 0 ? '' : `, such as ${examples.map((volume) => volume.name).join(', ')}`;
  return `  ${titleOf(kind, name)}${when}: ${what}${which}`;
}

function titleOf(kind: ClusterRisk['causes'][number]['kind'], name: string | null): string {
  switch (kind) {
    case 'node':
      return `${name} does not answer`;
    case 'disk':
      return `disk ${name} can not be used`;
    case 'placement':
      return 'copies without a place';
    case 'copies':
      return 'missing copies';
  }
}
