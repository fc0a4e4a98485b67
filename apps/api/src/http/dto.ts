import { z } from 'zod';

/** A class that represents a zod schema: Nest passes the class to the validation pipe, TypeScript uses its type. */
export type DtoClass<Schema extends z.ZodType = z.ZodType> = {
  new (): z.output<Schema>;
  readonly schema: Schema;
};

/**
 * `class CreateVolumeBody extends dto(schema) {}` is a type for a handler's parameter and the schema that checks it.
 * No instance is ever made: handlers get what the schema returned.
 */
export function dto<Schema extends z.ZodType>(schema: Schema): DtoClass<Schema> {
  // An empty class does not have the schema's type; the pipe makes the promise true.
  return Object.assign(class {}, { schema }) as unknown as DtoClass<Schema>;
}

/** The schema of a class that `dto` made; undefined for any other type. */
export function schemaOf(type: unknown): z.ZodType | undefined {
  if (typeof type !== 'function' || !('schema' in type)) return undefined;
  return type.schema instanceof z.ZodType ? type.schema : undefined;
}
