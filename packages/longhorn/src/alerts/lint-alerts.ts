/** Lint of alerting rules over Longhorn's metrics: rules that can never fire, fire always, or miss what they are named for. */
import { parser } from '@prometheus-io/lezer-promql';
import type { Finding } from '../inspection/report.js';
import { isInReleases } from '../releases.js';
import { METRIC_SINCE, STATE_SERIES_SINCE, STATES_OF } from './metric-releases.js';
import type { AlertRule } from './read-rules.js';

/** Longer expressions are skipped: people write some hundred characters. */
const EXPRESSION_CHARS_MAX = 20_000;

export type AlertFindings = {
  /** The rules that can never fire, or fire always, for the catalogue of known failures. */
  readonly neverFires: readonly Finding[];
  readonly others: readonly Finding[];
};

/** @param version of Longhorn; empty: unknown, and rules of the newest releases hold */
export function lintAlerts(rules: readonly AlertRule[], version: string): AlertFindings {
  const ours = rules.filter(({ expression }) => /\blonghorn_/.test(expression));
  const never = ours.flatMap((rule) => stateFindings(rule, version));
  return {
    neverFires: never,
    others: [...ours.flatMap((rule) => ruleFindings(rule, version)), ...missingRules(ours, version)],
  };
}

type Part = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly parent: string;
};

function partsOf(expression: string): Part[] {
  const parts: Part[] = [];
  if (expression.length > EXPRESSION_CHARS_MAX) return parts;
  parser.parse(expression).iterate({
    enter: ({ name, from, to, node }) => {
      parts.push({ name, from, to, text: expression.slice(from, to), parent: node.parent?.name ?? '' });
    },
  });
  return parts;
}

/** Comparisons of a state's metric: with a number they are dead from 1.11 on, with a state label before. */
function stateFindings(rule: AlertRule, version: string): Finding[] {
  const hasSeries = isInReleases(version, [`>=${STATE_SERIES_SINCE}`]);
  const parts = partsOf(rule.expression);
  return parts
    .filter(({ name }) => name === 'BinaryExpr')
    .flatMap((comparison) => {
      const found =
        /^\s*(longhorn_volume_(?:robustness|state))\s*(\{[^}]*\})?\s*(==|!=|>=|<=|>|<)\s*(?:bool\s+)?(\d+(?:\.\d+)?)\s*$/.exec(
          comparison.text,
        );
      if (found === null) return [];
      const [, metric = '', matchers = '', operator = '', number = ''] = found;
      const namesState = /\bstate\s*(?:=|!=|=~|!~)/.test(matchers);
      if (hasSeries && !namesState)
        return [numericFinding(rule, comparison, { metric, matchers, operator, number })];
      if (!hasSeries && namesState)
        return [
          finding(
            rule,
            'alert.never-fires',
            'critical',
            `${metric} has no label "state" before Longhorn ${STATE_SERIES_SINCE}: this can never be true`,
          ),
        ];
      return [];
    });
}

type Compared = {
  readonly metric: string;
  readonly matchers: string;
  readonly operator: string;
  readonly number: string;
};

function numericFinding(
  rule: AlertRule,
  { from, to }: Part,
  { metric, matchers, operator, number }: Compared,
): Finding {
  const states = STATES_OF[metric] ?? [];
  const wanted = statesOf(states, operator, Number(number));
  const others = matchers.replace(/^\{|\}$/g, '').replace(/,\s*$/, '');
  const value = wanted.length === 1 ? `state="${wanted[0]}"` : `state=~"${wanted.join('|')}"`;
  const fixed = `${metric}{${[others, value].filter((one) => one !== '').join(', ')}} == 1`;
  const whole = rule.expression.slice(0, from) + fixed + rule.expression.slice(to);
  const isOne = Number(number) === 1;
  const effect =
    operator === '==' && isOne
      ? 'is true for every volume, whatever its state'
      : operator === '==' && Number(number) > 1
        ? 'can never be true'
        : 'compares the 0 or 1 of each state, and not the state';
  const message = `from Longhorn ${STATE_SERIES_SINCE} on ${metric} has a series of 0 or 1 for each state, so that this ${effect}. Write: ${whole}`;
  return finding(rule, 'alert.never-fires', 'critical', message);
}

function statesOf(states: readonly string[], operator: string, number: number): string[] {
  const holds: Readonly<Record<string, (value: number) => boolean>> = {
    '==': (value) => value === number,
    '!=': (value) => value !== number,
    '>': (value) => value > number,
    '>=': (value) => value >= number,
    '<': (value) => value < number,
    '<=': (value) => value <= number,
  };
  return states.filter((state, value) => state !== '' && holds[operator]?.(value) === true);
}

function ruleFindings(rule: AlertRule, version: string): Finding[] {
  const parts = partsOf(rule.expression);
  const metrics = [...new Set(parts.filter(({ name }) => name === 'Identifier').map(({ text }) => text))];
  const broken = parts.some(({ name }) => name === '⚠');
  return [
    ...(broken ? [finding(rule, 'alert.unreadable', 'warning', 'the expression is no PromQL')] : []),
    ...(rule.holdsFor === '' || rule.holdsFor === '0s'
      ? [
          finding(
            rule,
            'alert.without-for',
            'info',
            'fires at the first sample, such as while a volume is attached; add for: 5m',
          ),
        ]
      : []),
    ...metrics.flatMap((metric) => {
      const since = METRIC_SINCE[metric];
      return since === undefined || version === '' || isInReleases(version, [`>=${since}`])
        ? []
        : [
            finding(
              rule,
              'alert.metric-unknown',
              'critical',
              `${metric} is there from Longhorn ${since} on: this can never be true in ${version}`,
            ),
          ];
    }),
    ...(/longhorn_volume_actual_size_bytes[^/]*\/\s*(?:on\s*\([^)]*\)\s*)?longhorn_volume_capacity_bytes/.test(
      rule.expression,
    )
      ? [
          finding(
            rule,
            'alert.actual-size',
            'info',
            'the actual size counts snapshots, so that it may pass the capacity while the file system is not full; kubelet_volume_stats_available_bytes says how full that is',
          ),
        ]
      : []),
    ...(/longhorn_node_status\{[^}]*condition="ready"/.test(rule.expression)
      ? [
          finding(
            rule,
            'alert.node-only',
            'info',
            'a disk that is not ready does not fire this: add longhorn_disk_status{condition="ready"} == 0',
          ),
        ]
      : []),
    ...(/\bavg\s*(?:by\s*\([^)]*\)\s*)?\([^)]*longhorn_node_count_total/.test(rule.expression)
      ? [
          finding(
            rule,
            'alert.node-count',
            'info',
            'each manager reports longhorn_node_count_total: a mean hides the one that differs; use max',
          ),
        ]
      : []),
  ];
}

const WANTED: readonly { metric: string; since: string; what: string }[] = [
  {
    metric: 'longhorn_engine_replica_mode',
    since: '1.9.0',
    what: 'replicas that are rebuilt or have failed (longhorn_engine_replica_mode)',
  },
  {
    metric: 'longhorn_volume_last_backup_at',
    since: '1.11.0',
    what: 'backups that are too old (longhorn_volume_last_backup_at)',
  },
];

/** What no rule watches; nothing is said where there are no rules of Longhorn at all. */
function missingRules(rules: readonly AlertRule[], version: string): Finding[] {
  const [first] = rules;
  if (first === undefined) return [];
  return WANTED.filter(({ since }) => version !== '' && isInReleases(version, [`>=${since}`]))
    .filter(({ metric }) => !rules.some(({ expression }) => expression.includes(metric)))
    .map(({ what }) => ({
      code: 'alert.missing',
      severity: 'info' as const,
      object: 'alerts',
      message: `no rule watches ${what}`,
      at: first.at,
    }));
}

function finding(rule: AlertRule, code: string, severity: Finding['severity'], message: string): Finding {
  return { code, severity, object: `alert ${rule.alert}`, message, at: rule.at };
}
