/** The API's answers, under the names the CLI uses for them. The OpenAPI document says what each field means. */
import type { Schema } from '@holdfast/api-client/client.js';

export type Page<T> = { items: T[]; nextCursor: string | null };
/** Any part may be missing: a proxy in between answers in its own way. */
export type ProblemBody = Partial<Schema<'Problem'>>;
export type Condition = Schema<'Condition'>;
export type Cluster = Schema<'Cluster'>;
export type Node = Schema<'Node'>;
export type Disk = Schema<'Disk'>;
export type Replica = Schema<'Replica'>;
export type Verification = Schema<'Verification'>;
export type Volume = Schema<'Volume'>;
export type VolumeSetting = Schema<'VolumeSetting'>;
export type VolumeExplanation = Schema<'Explanation'>;
export type PlacementExplanation = Schema<'PlacementExplanation'>;
export type Simulation = Schema<'Simulation'>;
export type Orphan = Schema<'Orphan'>;
export type Rebuild = Schema<'Rebuild'>;
export type Snapshot = Schema<'Snapshot'>;
export type RecurringSnapshot = Schema<'RecurringSnapshot'>;
export type SalvageAdvice = Schema<'SalvageAdvice'>;
export type Setting = Schema<'Setting'>;
export type ClusterEvent = Schema<'Event'>;
