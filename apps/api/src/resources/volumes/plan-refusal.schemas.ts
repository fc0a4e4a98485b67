import { z } from 'zod';

/** Refusal of the planned action, with the action's own text. */
export const refusalSchema = z
  .object({
    code: z.string().describe('Stable code of the refusal.'),
    detail: z.string().describe('The reason, for people.'),
    cures: z.array(z.string()).describe('Possible remedies.'),
  })
  .meta({ id: 'PlanRefusal' });
