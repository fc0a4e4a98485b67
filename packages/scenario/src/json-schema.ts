/** JSON schema of scenario files, for editors: made of what the reader checks them by. */
import { z } from 'zod';
import { fileSchema } from './scenario.js';

export function scenarioJsonSchema(): object {
  const schema = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any', reused: 'ref' });
  return { ...schema, title: 'Holdfast scenario' };
}
