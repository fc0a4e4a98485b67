/**
 * Table of the alerts' rules: what each says and how severe it is. An alert is a cause that an operator has to look after, such
 * as a node that is silent; what follows from it is counted as its effects and makes no alerts of its own.
 */

export type AlertSeverity = 'warning' | 'error';
export type AlertSubjectKind = 'cluster' | 'node' | 'disk';

export type AlertRule = {
  readonly severity: AlertSeverity;
  readonly subject: AlertSubjectKind;
  /** When it fires, as the end of "Fires when …". */
  readonly when: string;
};

const warning = (subject: AlertSubjectKind, when: string) =>
  ({ severity: 'warning', subject, when }) as const;
const error = (subject: AlertSubjectKind, when: string) => ({ severity: 'error', subject, when }) as const;

/** Names are API: silences and filters say them. */
export const ALERT_RULES = {
  NodeSilent: error('node', "the node's agent is not heard, for a minute"),
  DiskFailed: error('disk', 'the disk can not be used although its node is heard'),
  DiskNearlyFull: warning('disk', 'less than a tenth of the disk is free'),
  VolumesFaulted: error('cluster', 'volumes have no full copy, and neither a node nor a disk explains it'),
  VolumesOnLastCopy: error(
    'cluster',
    'volumes have had one full copy for two minutes, and neither a node nor a disk explains it',
  ),
  CopiesDiffer: error('cluster', 'copies of volumes differ, and no majority says which are right'),
  CopiesWithoutPlace: warning('cluster', 'copies have had no place for two minutes'),
  RebuildsWaiting: warning('cluster', 'a rebuild has waited for half an hour'),
  CertificateExpires: error(
    'node',
    "the certificate of the node's agent ends within two hours, and is not renewed",
  ),
  AuthorityExpires: error('cluster', "the control plane's authority ends within two weeks"),
} as const satisfies Record<string, AlertRule>;

export type AlertRuleName = keyof typeof ALERT_RULES;

export const ALERT_RULE_NAMES = Object.keys(ALERT_RULES).filter(isAlertRule);

export function isAlertRule(text: string): text is AlertRuleName {
  return Object.hasOwn(ALERT_RULES, text);
}
