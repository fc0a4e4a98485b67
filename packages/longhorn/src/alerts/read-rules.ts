/** Alerting rules out of objects: `PrometheusRule` of the operator, and files of Prometheus itself. */
import { z } from 'zod';
import type { Place } from '../model.js';
import type { KubernetesObject } from '../reading/read-objects.js';

export type AlertRule = {
  readonly alert: string;
  readonly expression: string;
  /** How long it has to hold before it fires; empty: at once. */
  readonly holdsFor: string;
  readonly at: Place;
};

const rule = z.object({
  alert: z.string().optional(),
  expr: z.union([z.string(), z.number()]),
  for: z.string().default(''),
});
const groups = z.array(z.object({ rules: z.array(z.unknown()).default([]) }));

/** Rules that fire; what only records a series is no alert. A rule that can't be read is left out: Prometheus refuses the file as a whole. */
export function alertRules({ json, file, line }: KubernetesObject): AlertRule[] {
  const spec = z.object({ spec: z.object({ groups }) }).safeParse(json).data?.spec;
  return (spec?.groups ?? [])
    .flatMap(({ rules }) => rules)
    .flatMap((one) => {
      const { alert, expr, for: holdsFor } = rule.safeParse(one).data ?? { expr: '', for: '' };
      return alert === undefined ? [] : [{ alert, expression: String(expr), holdsFor, at: { file, line } }];
    });
}
