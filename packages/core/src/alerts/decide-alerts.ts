/** Decision on a cluster's alerts: which fire, change and end, given the present causes, and which are announced. */
import type { Filter } from '../listing/filter.js';
import { matchesFilter } from '../listing/match-filter.js';
import { ALERT_RULES, type AlertRuleName } from './alert-rules.js';
import type { FoundAlert } from './find-alerts.js';

/** Fields of a silence's matcher. */
export const ALERT_FIELDS = {
  rule: 'text',
  severity: 'text',
  subjectKind: 'text',
  subjectId: 'text',
  subjectName: 'text',
} as const;

/** A time in which matching alerts are not announced. */
export type Silence = {
  readonly id: string;
  readonly matcher: Filter;
  readonly startsAt: Date;
  readonly endsAt: Date;
};

/** An alert that fires. */
export type FiringAlert = FoundAlert & {
  readonly id: string;
  /** An event has announced it. */
  readonly isTold: boolean;
  readonly silenceId: string | undefined;
};

export type AlertChange =
  | {
      readonly kind: 'fire';
      readonly alert: FoundAlert;
      readonly silenceId: string | undefined;
      readonly tells: boolean;
    }
  | {
      readonly kind: 'update';
      readonly id: string;
      readonly alert: FoundAlert;
      readonly silenceId: string | undefined;
      readonly tells: boolean;
    }
  | { readonly kind: 'resolve'; readonly id: string; readonly alert: FoundAlert; readonly tells: boolean };

/**
 * An alert is announced when it fires, once, or when the last silence over it ends; its end is announced if it was. A cause that
 * returns is a new alert.
 */
export function decideAlerts(
  found: readonly FoundAlert[],
  firing: readonly FiringAlert[],
  silences: readonly Silence[],
  now: Date,
): AlertChange[] {
  const active = silences.filter(({ startsAt, endsAt }) => startsAt <= now && now < endsAt);
  const silenceOf = (alert: FoundAlert) =>
    active.find(({ matcher }) => matchesFilter(matcher, fieldsOf(alert)))?.id;
  const before = new Map(firing.map((alert) => [keyOf(alert), alert]));
  const foundKeys = new Set(found.map(keyOf));
  const changes = found.flatMap((alert): AlertChange[] => {
    const silenceId = silenceOf(alert);
    const known = before.get(keyOf(alert));
    if (known === undefined) return [{ kind: 'fire', alert, silenceId, tells: silenceId === undefined }];
    const tells = silenceId === undefined && !known.isTold;
    const isSame = known.message === alert.message && known.silenceId === silenceId && !tells;
    // It has been firing since then, whatever the fact says that it was found by now.
    const { since } = known;
    return isSame ? [] : [{ kind: 'update', id: known.id, alert: { ...alert, since }, silenceId, tells }];
  });
  const ended = firing.filter((alert) => !foundKeys.has(keyOf(alert)));
  return [
    ...changes,
    ...ended.map(
      (alert): AlertChange => ({
        kind: 'resolve',
        id: alert.id,
        alert,
        // Told although it is silenced by now: who heard that it fires has to hear that it does not.
        tells: alert.isTold,
      }),
    ),
  ];
}

/** The type of its event. */
export function eventTypeOf(rule: AlertRuleName): 'AlertFired' | 'CriticalAlertFired' {
  return ALERT_RULES[rule].severity === 'error' ? 'CriticalAlertFired' : 'AlertFired';
}

function keyOf({ rule, subject }: FoundAlert): string {
  return `${rule} ${subject.id}`;
}

function fieldsOf({ rule, subject }: FoundAlert): Record<keyof typeof ALERT_FIELDS, string> {
  const { severity, subject: subjectKind } = ALERT_RULES[rule];
  return { rule, severity, subjectKind, subjectId: subject.id, subjectName: subject.name };
}
