/** Requests and answers of the API, under the CLI's names for them. The OpenAPI document says what each field means. */
import type { Body, Schema } from '@holdfast/api-client/client.js';

export type Page<T> = { items: T[]; nextCursor: string | null };
export type Condition = Schema<'Condition'>;
export type Node = Schema<'Node'>;
export type JoinToken = Schema<'JoinToken'>;
export type DrainPlan = Schema<'DrainPlan'>;
export type DrainWait = Schema<'DrainWait'>;
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
export type MovePlan = Schema<'MovePlan'>;
export type PatchPlan = Schema<'PatchPlan'>;
export type SalvageAdvice = Schema<'SalvageAdvice'>;
export type Setting = Schema<'Setting'>;
export type Access = Schema<'Access'>;
export type Organization = Schema<'Organization'>;
export type Project = Schema<'Project'>;
export type Member = Schema<'Member'>;
export type ProjectMember = Schema<'ProjectMember'>;
export type Invitation = Schema<'Invitation'>;
export type Quota = Schema<'Quota'>;
export type ClusterEvent = Schema<'Event'>;
export type AuditEntry = Schema<'AuditEntry'>;
export type AuditVerification = Schema<'AuditVerification'>;

export type NewVolume = Body<'/api/v1/clusters/{clusterId}/volumes', 'post'>;
export type VolumeChange = Body<'/api/v1/clusters/{clusterId}/volumes/{volumeId}', 'patch'>;
export type SimulationRequest = Body<'/api/v1/clusters/{clusterId}/placements/simulate', 'post'>;
