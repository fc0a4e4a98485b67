/** The API's answers, under the names the console uses for them. The OpenAPI document says what each field means. */
import type { Schema } from '@holdfast/api-client/client.js';

export type Cluster = Schema<'Cluster'>;
export type StorageNode = Schema<'Node'>;
export type NodeDrain = Schema<'NodeDrain'>;
export type DrainPlan = Schema<'DrainPlan'>;
export type DrainWait = Schema<'DrainWait'>;
export type Disk = Schema<'Disk'>;
export type Orphan = Schema<'Orphan'>;
export type Replica = Schema<'Replica'>;
export type ReplicaState = Replica['state'];
export type Volume = Schema<'Volume'>;
export type VolumeSetting = Schema<'VolumeSetting'>;
export type VolumeState = Volume['state'];
export type Robustness = Volume['robustness'];
export type Snapshot = Schema<'Snapshot'>;
export type RecurringSnapshot = Schema<'RecurringSnapshot'>;
export type MovePlan = Schema<'MovePlan'>;
export type PatchPlan = Schema<'PatchPlan'>;
export type SalvageAdvice = Schema<'SalvageAdvice'>;
export type Setting = Schema<'Setting'>;
export type Rebuild = Schema<'Rebuild'>;
export type RebuildState = Rebuild['state'];
export type VolumeExplanation = Schema<'Explanation'>;
export type PlacementExplanation = Schema<'PlacementExplanation'>;
export type Simulation = Schema<'Simulation'>;
export type ClusterEvent = Schema<'Event'>;
