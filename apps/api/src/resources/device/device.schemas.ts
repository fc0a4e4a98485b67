import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { time, uuid } from '../../http/schemas.js';

export class StartDeviceBody extends dto(
  z.strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .describe('Name of the program, for its user and the list of tokens.'),
  }),
) {}

export class DeviceStartDto extends dto(
  z
    .object({
      deviceCode: z.string().describe('Secret of the program, with which it fetches its token.'),
      userCode: z.string().describe("Code for the user's approval."),
      verificationUri: z.string().describe('Page of the console where the code is approved.'),
      verificationUriComplete: z.string().describe('The same page with the code filled in.'),
      expiresInSeconds: z.int().describe('Lifetime of the code, in seconds.'),
      intervalSeconds: z.int().describe('Interval between polls for the token, in seconds.'),
    })
    .meta({ id: 'DeviceStart' }),
) {}

export class DeviceCodePath extends dto(
  z.object({
    userCode: z
      .string()
      .max(20)
      .transform((text) => text.replace(/[^a-z]/gi, '').toUpperCase())
      .describe('Code shown by the program; case and dashes are ignored.'),
  }),
) {}

export class WaitingDeviceDto extends dto(
  z
    .object({
      name: z.string().describe('Name given by the program.'),
      address: z.string().describe('Address of the program.'),
    })
    .meta({ id: 'WaitingDevice' }),
) {}

export class DeviceTokenBody extends dto(
  z.strictObject({ deviceCode: z.string().min(1).max(512).describe('Secret of the program.') }),
) {}

export class DeviceTokenDto extends dto(
  z
    .object({
      token: z.string().describe('Secret for `Authorization: Bearer`; shown in this answer only.'),
      tokenId: uuid.describe('Id of the token.'),
      expiresAt: time.describe('Expiry of the token.'),
    })
    .meta({ id: 'DeviceToken' }),
) {}
