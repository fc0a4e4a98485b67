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
      .describe('What the program is, for its user and the list of tokens.'),
  }),
) {}

export class DeviceStartDto extends dto(
  z
    .object({
      deviceCode: z.string().describe('Secret of the program, to ask for its token with.'),
      userCode: z.string().describe('Code that its user approves.'),
      verificationUri: z.string().describe('Page of the console where the code is approved.'),
      verificationUriComplete: z.string().describe('The same page with the code filled in.'),
      expiresInSeconds: z.int().describe('Life of the code, in seconds.'),
      intervalSeconds: z.int().describe('Pause between two questions for the token, in seconds.'),
    })
    .meta({ id: 'DeviceStart' }),
) {}

export class DeviceCodePath extends dto(
  z.object({
    userCode: z
      .string()
      .max(20)
      .transform((text) => text.replace(/[^a-z]/gi, '').toUpperCase())
      .describe('Code that the program shows; case and dashes do not matter.'),
  }),
) {}

export class WaitingDeviceDto extends dto(
  z
    .object({
      name: z.string().describe('What the program says it is.'),
      address: z.string().describe('Address that it asks from.'),
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
      expiresAt: time.describe('When the token ends.'),
    })
    .meta({ id: 'DeviceToken' }),
) {}
