import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import type { Tone } from '@holdfast/ui/tone.js';
import type { Condition } from '../api/types';
import { sentence } from '../sentence';

const LOOK: Record<Condition['status'], { tone: Tone; word: string }> = {
  True: { tone: 'good', word: 'Yes' },
  False: { tone: 'warn', word: 'No' },
  Unknown: { tone: 'idle', word: 'Not known' },
};

/** Names of conditions as questions that an operator asks. */
const QUESTIONS: Readonly<Record<string, string>> = {
  Answering: 'Does it answer?',
  Ready: 'Is it ready?',
  Schedulable: 'May new copies come?',
  DirectIo: 'Is direct I/O used?',
  Unique: 'Is it the only disk of its identity?',
  Mounted: 'Is it on a file system of its own?',
};

const URGENT: ReadonlySet<string> = new Set(['Answering', 'Ready']);

/** Conditions of a node or a disk: whether each holds, since when, and why not. */
export function ConditionsPanel({ conditions }: { conditions: readonly Condition[] }) {
  return (
    <Panel title="Conditions" flush>
      <ul>
        {conditions.map(({ type, status, message, lastTransitionAt }) => {
          const { word } = LOOK[status];
          const tone = status === 'False' && URGENT.has(type) ? 'bad' : LOOK[status].tone;
          return (
            <li key={type} className="border-b border-border px-4 py-2 text-sm last:border-0">
              <p className="flex items-baseline justify-between gap-3">
                <span>{QUESTIONS[type] ?? type}</span>
                <span className="flex items-baseline gap-3">
                  <span className="text-xs text-muted">
                    <Moment at={lastTransitionAt} />
                  </span>
                  <Badge tone={tone} quiet>
                    {word}
                  </Badge>
                </span>
              </p>
              {message !== '' && <p className="mt-0.5 text-xs text-muted">{sentence(message)}</p>}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
