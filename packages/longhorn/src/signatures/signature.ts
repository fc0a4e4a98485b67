/**
 * Known failures of Longhorn: how one is recognized, in which releases, and what to do. The tables are `object-signatures.ts` and
 * `log-signatures.ts`; their numbers are those of docs/longhorn-signatures.md.
 */
import type { AlertRule } from '../alerts/read-rules.js';
import type { Severity } from '../inspection/report.js';
import type { LonghornCluster, Place } from '../model.js';
import type { Fields } from '../reading/fields.js';
import type { KubernetesObject } from '../reading/read-objects.js';

/** What was found: an object or a line, and what it says. */
export type Evidence = { readonly object: string; readonly message: string; readonly at: Place };

export type Signature = {
  readonly number: number;
  readonly name: string;
  readonly title: string;
  readonly severity: Severity;
  /** Ranges such as `1.5.0-1.5.4`, `<=1.4.3` and `>=1.11.0`; none: all releases. */
  readonly releases: readonly string[];
  /** True if the evidence fits other causes too, or if its meaning is disputed. */
  readonly isSuspect?: true;
  readonly advice: string;
  /** An issue of Longhorn, or its knowledge base. */
  readonly source: string;
  /** By kind: what an object that has the failure says. */
  readonly inObjects?: Readonly<Record<string, ObjectMatch>>;
  /** Lines of logs, of the kernel and of events. */
  readonly inLines?: RegExp;
  /** Reasons of events. */
  readonly inEvents?: readonly string[];
  /** What several objects say together. */
  readonly inCluster?: (facts: SignatureFacts) => readonly Evidence[];
};

/** @returns what is wrong with the object; `undefined`: nothing */
export type ObjectMatch = (object: ObjectFields) => string | undefined;
export type ObjectFields = {
  readonly spec: Fields;
  readonly status: Fields;
  readonly json: Fields;
  readonly name: string;
};

/** The cluster, and facts of objects that it does not keep. */
export type SignatureFacts = {
  readonly cluster: LonghornCluster;
  readonly now: Date;
  readonly noted: NotedFacts;
};

export type NotedFacts = {
  readonly alertRules: AlertRule[];
  /** A PriorityClass that all pods have which name none. */
  readonly defaultPriorityClasses: Evidence[];
  readonly managerImages: { readonly image: string; readonly at: Place; readonly pod: string }[];
  /** Instances that managers run, by name. */
  readonly instances: { readonly name: string; readonly manager: string; readonly at: Place }[];
  /** Backups that wait, with what they say. */
  readonly waitingBackups: {
    readonly name: string;
    readonly message: string;
    readonly at: Place;
    readonly snapshot: string;
  }[];
};

export function placeOf({ file, line }: KubernetesObject): Place {
  return { file, line };
}
