import { authoritiesSchema, joinReplySchema, joinSchema } from '@holdfast/core/model/agent-join.js';
import {
  confirmRecordSchema,
  heartbeatRepeatReplySchema,
  heartbeatRepeatSchema,
  heartbeatReplySchema,
  heartbeatSchema,
} from '@holdfast/core/model/agent-protocol.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id } from '../../http/schemas.js';

export class JoinBody extends dto(joinSchema) {}
export class JoinReplyDto extends dto(joinReplySchema) {}
export class AuthoritiesDto extends dto(authoritiesSchema) {}
export class HeartbeatBody extends dto(heartbeatSchema) {}
export class HeartbeatReplyDto extends dto(heartbeatReplySchema) {}
export class HeartbeatRepeatBody extends dto(heartbeatRepeatSchema) {}
export class HeartbeatRepeatReplyDto extends dto(heartbeatRepeatReplySchema) {}
export class ConfirmRecordBody extends dto(confirmRecordSchema) {}
export class RecordConfirmedDto extends dto(
  z
    .object({ recorded: z.literal(true).describe('The members are stored: I/O may continue.') })
    .meta({ id: 'RecordConfirmed' }),
) {}
export class AgentVolumePath extends dto(
  z.object({ volumeId: id<VolumeId>().describe('The volume of the engine that sends the request.') }),
) {}
