/** Metadata of a backup file: its first frame, one for each table, and the manifest at its end. */
import { z } from 'zod';

/** Version of the file's form. A reader refuses others. */
export const FORMAT = 1;

const migration = z.object({ name: z.string(), checksum: z.string() });

export const headerSchema = z.object({
  product: z.literal('holdfast'),
  format: z.number().int(),
  /** Begin of the transaction that all rows were read in. */
  takenAt: z.iso.datetime(),
  /** The schema: all migrations that were applied, in order. */
  migrations: z.array(migration).min(1),
  /** First transaction id that was not given out yet; the log of events is ordered by such ids. */
  nextTransactionId: z.number().int().nonnegative(),
});

export const tableSchema = z.object({ name: z.string(), columns: z.array(z.string()).min(1) });

const tableSumSchema = z.object({
  name: z.string(),
  rows: z.number().int().nonnegative(),
  /** SHA-256 of the table's rows in Postgres' text form, in hexadecimal. */
  sha256: z.string(),
});

export const manifestSchema = z.object({
  tables: z.array(tableSumSchema),
  /** Last value of each sequence; null: it was not used yet. */
  sequences: z.array(z.object({ name: z.string(), last: z.number().int().nullable() })),
});

export type BackupHeader = z.infer<typeof headerSchema>;
export type BackupTable = z.infer<typeof tableSchema>;
export type TableSum = z.infer<typeof tableSumSchema>;
export type BackupManifest = z.infer<typeof manifestSchema>;
export type Migration = z.infer<typeof migration>;
