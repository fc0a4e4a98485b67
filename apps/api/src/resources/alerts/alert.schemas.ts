import { ALERT_RULE_NAMES } from '@holdfast/core/alerts/alert-rules.js';
import type { AlertId, SilenceId } from '@holdfast/core/model/ids.js';
import type { AlertRow, SilenceRow } from '@holdfast/database/queries/alerts.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, isoOrNull, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const alertSchema = z
  .object({
    id: uuid.describe('Id of the alert; a cause that recurs gets a new one.'),
    clusterId: uuid.describe('Id of the cluster.'),
    rule: z.string().describe(`The rule that raised it: ${ALERT_RULE_NAMES.join(', ')}.`),
    severity: z
      .enum(['warning', 'error'])
      .describe('`error`: data is at risk or unavailable; `warning`: that may follow.'),
    state: z
      .enum(['firing', 'silenced', 'resolved'])
      .describe('`silenced`: it fires, and is not announced during its silence.'),
    subject: z
      .object({
        kind: z.enum(['cluster', 'node', 'disk']).describe('Kind of the object.'),
        id: z.string().describe('Id of the object.'),
        name: z.string().describe('Name of the cluster, node or disk at the time when the alert fired.'),
      })
      .describe('The object with the cause.'),
    message: z.string().describe('Description of the cause, for people.'),
    effects: z
      .object({
        copies: z.int().describe('Number of copies on the failed object, or without a place.'),
        volumesOnLastCopy: z
          .int()
          .describe('Number of volumes reduced by this cause to one of several full copies.'),
        volumesFaulted: z.int().describe('Number of volumes without a full copy, by this cause.'),
        volumesServedThere: z.int().describe('Number of volumes whose engine is there.'),
      })
      .describe('Consequences of the cause, which raise no alerts of their own.'),
    since: time.describe('Begin of the cause.'),
    resolvedAt: time.nullable().describe('End of the cause; null: it persists.'),
    silenceId: uuid.nullable().describe('Id of the silence that applies; null: none.'),
  })
  .meta({ id: 'Alert' });

export function alertView(row: AlertRow): z.infer<typeof alertSchema> {
  const { subjectKind, subjectId, subjectName, since, resolvedAt, silenceId, ...rest } = row;
  const firing = silenceId === null ? 'firing' : 'silenced';
  return {
    ...rest,
    state: resolvedAt === null ? firing : 'resolved',
    subject: { kind: subjectKind, id: subjectId, name: subjectName },
    since: since.toISOString(),
    resolvedAt: isoOrNull(resolvedAt ?? undefined),
    silenceId,
  };
}

const matcher = z.string().trim().min(1).max(1_000);
const comment = z.string().trim().min(1).max(1_000);
const MATCHER_WORDS =
  'Filter for alerts, in the syntax of lists: `rule`, `severity`, `subjectKind`, `subjectId` and `subjectName`, such as `rule=NodeSilent AND subjectName=node-2`.';

export const silenceSchema = z
  .object({
    id: uuid.describe('Id of the silence.'),
    clusterId: uuid.describe('Id of the cluster of the alerts.'),
    matcher: z.string().describe(MATCHER_WORDS),
    comment: z.string().describe('Reason, for other users.'),
    startsAt: time.describe('Begin of the silence.'),
    endsAt: time.describe('End of the silence; alerts that still fire are announced then.'),
    author: z.string().describe('Id of the user who created it.'),
    version,
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'Silence' });

export function silenceView(row: SilenceRow): z.infer<typeof silenceSchema> {
  const { startsAt, endsAt, createdAt } = row;
  return {
    ...row,
    startsAt: startsAt.toISOString(),
    endsAt: endsAt.toISOString(),
    createdAt: createdAt.toISOString(),
  };
}

export class AlertPath extends dto(
  z.object({ clusterId: clusterIdInPath, alertId: id<AlertId>().describe('Id of the alert.') }),
) {}
export class SilencePath extends dto(
  z.object({ clusterId: clusterIdInPath, silenceId: id<SilenceId>().describe('Id of the silence.') }),
) {}
export class CreateSilenceBody extends dto(
  z.strictObject({
    matcher: matcher.describe(MATCHER_WORDS),
    comment: comment.describe('Reason, for other users.'),
    startsAt: time.optional().describe('Begin of the silence; left out: now.'),
    endsAt: time.describe('End of the silence; at most 90 days from now.'),
  }),
) {}
export class AlertDto extends dto(alertSchema) {}
export class AlertPage extends dto(pageOf(alertSchema, 'AlertList')) {}
export class SilenceDto extends dto(silenceSchema) {}
export class SilencePage extends dto(pageOf(silenceSchema, 'SilenceList')) {}
