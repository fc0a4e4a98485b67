import type { RefusedWrites } from '../access/refused-writes.js';
import { codeOf } from '../http/send-problem.js';
import { type Fields, fieldTenant } from './fields.js';

/** The same mutations, with their refusals in the audit log. Successful ones write their own entries. */
export function auditedMutations(fields: Fields, refused: RefusedWrites): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { resolve, ...field }]) => [
      name,
      {
        ...field,
        async resolve(source, given, context, info) {
          try {
            return await resolve?.(source, given, context, info);
          } catch (error) {
            const entry = fieldTenant(context.tenant, given, info).auditEntry();
            refused.note({ ...entry, reason: codeOf(error) });
            throw error;
          }
        },
      },
    ]),
  );
}
