import { ALERT_RULE_NAMES } from '@holdfast/core/alerts/alert-rules.js';
import type { AlertId, SilenceId } from '@holdfast/core/model/ids.js';
import type { AlertRow, SilenceRow } from '@holdfast/database/queries/alerts.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, isoOrNull, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const alertSchema = z
  .object({
    id: uuid.describe('Id of the alert: a cause that comes back has another one.'),
    clusterId: uuid.describe('The cluster that it is about.'),
    rule: z.string().describe(`The rule that found it: ${ALERT_RULE_NAMES.join(', ')}.`),
    severity: z
      .enum(['warning', 'error'])
      .describe('`error`: data is at risk or out of reach; `warning`: it may come to that.'),
    state: z
      .enum(['firing', 'silenced', 'resolved'])
      .describe('`silenced`: it fires, and is not told while its silence lasts.'),
    subject: z
      .object({
        kind: z.enum(['cluster', 'node', 'disk']).describe('Kind of the object.'),
        id: z.string().describe('Id of the object.'),
        name: z
          .string()
          .describe('The name of the cluster, the node or the disk, as it was when the alert fired.'),
      })
      .describe('Where the cause is.'),
    message: z.string().describe('What is so, for people.'),
    effects: z
      .object({
        copies: z.int().describe('Copies on what has failed, or that have no place.'),
        volumesOnLastCopy: z
          .int()
          .describe('Volumes that want several full copies and have one, by this cause.'),
        volumesFaulted: z.int().describe('Volumes without a full copy, by this cause.'),
        volumesServedThere: z.int().describe('Volumes whose engine is there.'),
      })
      .describe('What follows from it, which makes no alerts of its own.'),
    since: time.describe('Since when the cause is there.'),
    resolvedAt: time.nullable().describe('When it was gone; null: it is there.'),
    silenceId: uuid.nullable().describe('The silence that it is under; null: none.'),
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
  'Which alerts, as lists are filtered: `rule`, `severity`, `subjectKind`, `subjectId` and `subjectName`, such as `rule=NodeSilent AND subjectName=node-2`.';

export const silenceSchema = z
  .object({
    id: uuid.describe('Id of the silence.'),
    clusterId: uuid.describe('The cluster whose alerts it is about.'),
    matcher: z.string().describe(MATCHER_WORDS),
    comment: z.string().describe('Why, for the others.'),
    startsAt: time.describe('From when alerts are not told.'),
    endsAt: time.describe('Until when; what fires still is told then.'),
    author: z.string().describe('Id of the user who made it.'),
    version,
    createdAt: time.describe('When it was made.'),
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
    comment: comment.describe('Why, for the others.'),
    startsAt: time.optional().describe('From when alerts are not told; left out: at once.'),
    endsAt: time.describe('Until when: 90 days from now at most.'),
  }),
) {}
export class AlertDto extends dto(alertSchema) {}
export class AlertPage extends dto(pageOf(alertSchema, 'AlertList')) {}
export class SilenceDto extends dto(silenceSchema) {}
export class SilencePage extends dto(pageOf(silenceSchema, 'SilenceList')) {}
