import { z } from 'zod';

/** Why what a plan was asked about would be refused, as the action itself would say it. */
export const refusalSchema = z
  .object({
    code: z.string().describe('Stable code of the refusal.'),
    detail: z.string().describe('Why, for people.'),
    cures: z.array(z.string()).describe('What would help.'),
  })
  .meta({ id: 'PlanRefusal' });
